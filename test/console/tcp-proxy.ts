/** Stands between a client and Postgres, so that a test can take the database away and bring it back. */
import { once } from 'node:events';
import net from 'node:net';
import type pg from 'pg';

export async function startProxy({ host = '', port = 5432 }: pg.PoolConfig) {
  const sockets = new Set<net.Socket>();
  let isCut = false;
  const keep = (socket: net.Socket): net.Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = net.createServer((client) => {
    keep(client);
    if (isCut) return client.destroy();
    const there = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    keep(there).pipe(client).pipe(there);
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    // Safe: it listens on a port.
    address: { host: '127.0.0.1', port: (server.address() as net.AddressInfo).port },
    /** Breaks all connections, and refuses new ones. */
    cut,
    restore(): void {
      isCut = false;
    },
    async close(): Promise<void> {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
