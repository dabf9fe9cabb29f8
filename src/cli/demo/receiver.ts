/** The receiver of the demo's deliveries: a web server on this machine that checks every signature, as a receiver should. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { signingKey, verifyStandardWebhook } from '../../mirror/targets/calls/signature.ts';

const told = z.object({
  type: z.string(),
  data: z.object({ sequence: z.number(), task: z.object({ id: z.string(), title: z.string() }) }),
});

export interface Told {
  readonly id: string;
  readonly isGenuine: boolean;
  readonly type: string;
  readonly task: { readonly id: string; readonly title: string };
}

export interface Receiver {
  readonly url: string;
  /** What it received, in order. */
  readonly told: readonly Told[];
  close(): Promise<void>;
}

export async function openReceiver(secret: string): Promise<Receiver> {
  const received: Told[] = [];
  const key = signingKey(secret, 'the demo');
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const isGenuine = verifyStandardWebhook({ headers, body }, [key], new Date()).status === 'genuine';
    const delivery = told.safeParse(jsonIn(body));
    if (delivery.success) {
      const { type, data } = delivery.data;
      received.push({ id: headers['webhook-id'] ?? '', isGenuine, type, task: data.task });
    }
    // A check of the target asks without a delivery.
    response.writeHead(delivery.success ? (isGenuine ? 204 : 401) : 405).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // safe: it listens on TCP
  return {
    url: `http://127.0.0.1:${port}/tasks`,
    told: received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
