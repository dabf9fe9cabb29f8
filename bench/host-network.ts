/**
 * Network namespaces for processes that are to be hosts of their own: each has its own addresses and reaches the others over a
 * bridge. Needs root and `ip` of iproute2.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { promisify } from 'node:util';

export interface HostNetwork {
  /** At which the hosts reach this process. */
  readonly address: string;
  /** Whether each host has a namespace of its own; if not, all of them use loopback. */
  readonly isReal: boolean;
  /** The command that starts a program on host `n`, from 0 on. */
  on(n: number): readonly string[];
  /** Lets the hosts reach a store of this machine; returns the port. `to`: a port on loopback, or a Unix socket. */
  forward(to: number | string): Promise<number>;
  close(): Promise<void>;
}

const BRIDGE = 'lockstep';
const SUBNET = '10.231.0';

const ip = async (line: string): Promise<void> => {
  await promisify(execFile)('ip', line.split(' '));
};

export async function openHostNetwork(hosts: number): Promise<HostNetwork> {
  const names = Array.from({ length: hosts }, (_, n) => `${BRIDGE}-${n}`);
  const isReal =
    process.getuid?.() === 0 &&
    (await ip('-V').then(
      () => true,
      () => false,
    ));
  const address = isReal ? `${SUBNET}.1` : '127.0.0.1';
  const servers: net.Server[] = [];
  const network: HostNetwork = {
    address,
    isReal,
    on: (n) => (isReal ? ['ip', 'netns', 'exec', names[n] ?? ''] : []),
    async forward(to) {
      const target = typeof to === 'number' ? { port: to, host: '127.0.0.1' } : { path: to };
      const server = net.createServer((socket) => {
        const onward = net.connect(target);
        for (const [one, other] of [
          [socket, onward],
          [onward, socket],
        ] as const)
          one.pipe(other).on('error', () => one.destroy());
      });
      servers.push(server.listen(0, address));
      await once(server, 'listening');
      return (server.address() as AddressInfo).port; // safe: it listens on TCP
    },
    async close() {
      for (const server of servers) server.close();
      if (isReal) await leave(names);
    },
  };
  if (isReal) {
    await leave(names); // of a benchmark that was killed
    await join(names);
  }
  return network;
}

async function leave(names: readonly string[]): Promise<void> {
  const lines = [...names.map((name) => `netns del ${name}`), `link del ${BRIDGE}`];
  for (const line of lines) await ip(line).catch(() => undefined); // there is none
}

async function join(names: readonly string[]): Promise<void> {
  await ip(`link add name ${BRIDGE} type bridge`);
  await ip(`addr add ${SUBNET}.1/24 dev ${BRIDGE}`);
  await ip(`link set ${BRIDGE} up`);
  for (const [n, name] of names.entries()) {
    await ip(`netns add ${name}`);
    await ip(`link add ${name} type veth peer name eth0 netns ${name}`);
    await ip(`link set ${name} master ${BRIDGE} up`);
    await ip(`-n ${name} addr add ${SUBNET}.${n + 2}/24 dev eth0`);
    await ip(`-n ${name} link set eth0 up`);
    await ip(`-n ${name} link set lo up`);
  }
}
