/** A real HTTP or TCP server on loopback that gives the answers of a test and keeps every request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** As sent: names in their case, values following. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Text is sent unchanged; anything else as JSON. Default: an empty body. */
  readonly body?: unknown;
}

/** Answers with the reply it returns. Undefined: it has written the response itself. */
export type Answer = (request: SeenRequest, response: ServerResponse) => Reply | undefined | Promise<Reply | undefined>;

export interface TestServer {
  readonly url: string;
  /** In the order in which they were read to their end. */
  readonly requests: readonly SeenRequest[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export async function startHttpServer(answer: Answer | Reply): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await read(incoming);
    requests.push(request);
    const reply = typeof answer === 'function' ? await answer(request, response) : answer;
    if (reply !== undefined) send(response, reply);
  });
  return { requests, ...(await listen(server)) };
}

/** Below HTTP: for servers that break off, stall or answer nonsense. `onRequest` is called for each arrival of bytes. */
export async function startTcpServer(
  onRequest: (socket: Socket, text: string, count: number) => void,
): Promise<Omit<TestServer, 'requests'> & { readonly arrivals: () => number }> {
  let arrivals = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => onRequest(socket, bytes.toString(), ++arrivals));
  });
  return { arrivals: () => arrivals, ...(await listen(server)) };
}

async function listen(server: Server): Promise<Omit<TestServer, 'requests'>> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    connections: () => connections,
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function read(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = new URL(incoming.url ?? '/', 'http://loopback');
  return {
    method: incoming.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body: Buffer.concat(chunks).toString(),
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Reply): void {
  const isText = typeof body === 'string' || body === undefined || body instanceof Uint8Array;
  response.writeHead(status, { ...(isText ? {} : { 'content-type': 'application/json' }), ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
