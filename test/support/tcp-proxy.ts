/** Stands between a client and a server, so that a test can take the server away and bring it back. */
import { once } from 'node:events';
import net from 'node:net';

/** `host`: a name, or the directory of Postgres' Unix socket. */
export function startProxy({ host = '', port = 5432 }: { readonly host?: string; readonly port?: number }) {
  return startProxyTo(() => (host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)));
}

/** `connect`: to the server, for each connection of a client. */
export async function startProxyTo(connect: () => net.Socket) {
  const sockets = new Set<net.Socket>();
  const servers: net.Socket[] = [];
  const clients: net.Socket[] = [];
  let isCut = false;
  let isSilent = false;
  let silentFrom: string | undefined;
  let lostUpTo = 0;
  const keep = (socket: net.Socket): net.Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const pass = (from: net.Socket, to: net.Socket, n: number): void => {
    const isLost = () => isSilent || n <= lostUpTo;
    from.on('data', (data) => {
      if (silentFrom !== undefined && data.includes(silentFrom)) isSilent = true;
      if (!isLost()) to.write(data);
    });
    from.on('close', () => !isLost() && to.destroy());
  };
  const server = net.createServer((client) => {
    keep(client);
    if (isCut) return client.destroy();
    const there = keep(connect());
    const n = servers.push(there);
    clients.push(client);
    pass(client, there, n);
    pass(there, client, n);
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
    /** As if the client's host were gone, at once or from when it sends this text: nothing arrives any more, and no connection is closed. */
    loseHost(from?: string): void {
      silentFrom = from;
      isSilent ||= from === undefined;
    },
    isHostLost: () => isSilent,
    /** Passes new connections; those of before stay as they are. */
    restore(): void {
      isCut = false;
      if (isSilent) lostUpTo = servers.length;
      isSilent = false;
      silentFrom = undefined;
    },
    /** The server gives up the connections of a lost host, as keepalives tell it to. */
    giveUp(): void {
      for (const there of servers.slice(0, lostUpTo)) there.destroy();
    },
    /** The host is back, and the server refuses what it sends on connections that were given up. */
    refuseLost(): void {
      for (const client of clients.slice(0, lostUpTo)) client.resetAndDestroy();
    },
    async close(): Promise<void> {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
