/** A proxy with TLS, as the console sees it: it passes the host on, and names the visitor and the protocol. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The header `x-test-visitor` of a request is the address of its visitor. */
export async function startHttpProxy() {
  let target = '';
  const server = createServer((asked, answer) => {
    const { 'x-test-visitor': visitor, connection: _, ...headers } = asked.headers;
    const passed = {
      ...headers,
      host: 'console.example',
      'x-forwarded-for': String(visitor),
      'x-forwarded-proto': 'https',
    };
    const passing = request(target + asked.url, { method: asked.method, headers: passed }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    });
    asked.pipe(passing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // safe: it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    passTo(url: string) {
      target = url;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
