/** A server in front of a service: passes every request on, and lets a test answer, observe or delay it instead. */
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from '../http-server.ts';

/** Called with each request; `pass` gives the service's own answer. Undefined: nothing is ever answered. */
export type Between = (request: SeenRequest, pass: () => Promise<Reply>) => Promise<Reply | undefined>;

export interface FrontServer extends TestServer {
  /** Where requests go; to be set before the first. */
  passTo(url: string): void;
  /** From now on; without a handler every request is simply passed on. */
  set(between?: Between): void;
}

export async function startFrontServer(): Promise<FrontServer> {
  let target = '';
  let between: Between | undefined;
  const server = await startHttpServer(async (request, response) => {
    const pass = () => passOn(request, target);
    try {
      return await (between ? between(request, pass) : pass());
    } catch {
      response.destroy(); // the service closed the connection, so this does too
      return undefined;
    }
  });
  return {
    ...server,
    passTo(url) {
      target = url;
    },
    set(next) {
      between = next;
    },
  };
}

async function passOn({ method, path, query, headers, body }: SeenRequest, target: string): Promise<Reply> {
  const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && !OF_THE_HOP.has(name) ? [[name, value]] : [],
  );
  const search = query.size === 0 ? '' : `?${query}`;
  const response = await fetch(target + path + search, { method, headers: sent, ...(body !== '' && { body }) });
  const type = response.headers.get('content-type');
  return {
    status: response.status,
    body: await response.text(),
    ...(type !== null && { headers: { 'content-type': type } }),
  };
}

const OF_THE_HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect']);
