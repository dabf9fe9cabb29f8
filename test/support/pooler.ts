/** As a pooler in transaction mode: all connections are given the same session of Postgres. One statement at a time. */
import { once } from 'node:events';
import net from 'node:net';

const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** `host`: the directory of Postgres' Unix socket. Postgres has to ask for no password. */
export async function startPooler(host: string) {
  const postgres = net.connect(`${host}/.s.PGSQL.5432`);
  let current: net.Socket | undefined;
  let greeting: Buffer | undefined;
  const sockets = new Set([postgres]);
  postgres.on('data', (data) => {
    if (data.includes(READY)) greeting ??= data;
    current?.write(data);
  });
  const server = net.createServer((client) => {
    sockets.add(client);
    client.once('data', (startup) => {
      current = client;
      if (greeting) client.write(greeting);
      else postgres.write(startup);
      client.on('data', (data) => {
        current = client;
        if (data[0] !== 'X'.charCodeAt(0)) postgres.write(data); // the end of one connection
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port, // safe: it listens on a port
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
