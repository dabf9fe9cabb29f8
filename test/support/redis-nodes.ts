/** Redis on several nodes on this machine: a master with a replica that a Sentinel watches, and a Cluster. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { PATIENT } from './patient.ts';
import { AT_ONCE, freePort, startOwnRedis, type TestRedis } from './redis-server.ts';

const MASTER = 'lockstep-master';
/** How long the Sentinel waits before it counts a silent server as down. */
const DOWN_AFTER_MS = 500;
const NODES = 3;
/** Of every Cluster. */
const SLOTS = 16_384;

export interface Replicated extends TestRedis {
  readonly sentinelUrl: string;
  /** From now on the replica misses what the master writes. */
  loseWrites(): Promise<void>;
  /** Kills the master; resolves once the Sentinel has promoted the replica, and another replica follows it. */
  failOver(): Promise<void>;
}

/** The URL is that of the Sentinel. */
export async function startReplicated(dir: string): Promise<Replicated> {
  const started: TestRedis[] = [];
  const start = async (options: readonly string[]): Promise<TestRedis> => {
    const folder = path.join(dir, `redis-${started.length}`);
    await mkdir(folder);
    const redis = await startOwnRedis(folder, options);
    if (!redis) throw new Error('no Redis is installed');
    started.push(redis);
    return redis;
  };
  const startReplica = async (of: string) => {
    const replica = await start([
      ...AT_ONCE,
      '--replicaof',
      `127.0.0.1 ${portOf(of)}`,
      '--repl-diskless-sync-delay',
      '0',
    ]);
    // Until it is online, the master keeps back what it writes.
    await vi.waitUntil(async () => (await ask(of, 'info')).includes('state=online'), PATIENT);
    return replica;
  };
  let isLosing = false;
  let master = await start(AT_ONCE);
  let replica = await startReplica(master.url);
  const file = path.join(dir, 'sentinel.conf');
  await writeFile(
    file,
    `sentinel monitor ${MASTER} 127.0.0.1 ${portOf(master.url)} 1
sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MS}
sentinel failover-timeout ${MASTER} 2000
`,
  );
  const sentinel = await start([file, '--sentinel']);
  const says = (what: RegExp) => vi.waitUntil(async () => what.test(await ask(sentinel.url, 'info')), PATIENT);
  /** The Sentinel finds a new replica in what the master says, every 10 s; killed ones count too. */
  const knowsReplica = () => says(new RegExp(`slaves=${started.length - 2},`));
  return {
    url: `${sentinel.url.replace('redis:', 'redis+sentinel:')}/${MASTER}`,
    sentinelUrl: sentinel.url,
    async loseWrites() {
      await knowsReplica();
      isLosing = true;
      await ask(master.url, 'acl', 'setuser', 'default', '-psync', '-sync');
      await ask(master.url, 'client', 'kill', 'type', 'replica');
    },
    async failOver() {
      if (!isLosing) await knowsReplica();
      const offset = async ({ url }: TestRedis) => /master_repl_offset:(\d+)/.exec(await ask(url, 'info'))?.[1];
      if (!isLosing) await vi.waitUntil(async () => (await offset(master)) === (await offset(replica)), PATIENT);
      isLosing = false;
      await master.close();
      await says(new RegExp(`address=127.0.0.1:${portOf(replica.url)},`));
      master = replica;
      await vi.waitUntil(async () => (await ask(master.url, 'info')).includes('role:master'), PATIENT);
      replica = await startReplica(master.url);
    },
    async close() {
      for (const redis of started.reverse()) await redis.close();
    },
  };
}

export interface TestCluster extends TestRedis {
  readonly nodes: readonly TestRedis[];
  /** Starts node `n`, which was closed, again on its port; it has lost its keys. */
  restart(n: number): Promise<void>;
}

/** Three masters. The URL is that of a Cluster. */
export async function startCluster(dir: string): Promise<TestCluster> {
  const nodes: TestRedis[] = [];
  const startNode = async (n: number, port?: number) => {
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(buses[n])];
    const options = [...AT_ONCE, ...cluster];
    const node = await startOwnRedis(path.join(dir, `node-${n}`), options, port);
    if (!node) throw new Error('no Redis is installed');
    nodes[n] = node;
  };
  const buses: number[] = [];
  for (let n = 0; n < NODES; n++) {
    await mkdir(path.join(dir, `node-${n}`));
    buses.push(await freePort());
    await startNode(n);
  }
  const [first] = nodes as [TestRedis];
  for (const [n, { url }] of nodes.entries()) {
    const [from, to] = [Math.ceil((n * SLOTS) / NODES), Math.ceil(((n + 1) * SLOTS) / NODES) - 1];
    await ask(url, 'cluster', 'addslotsrange', String(from), String(to));
    await ask(url, 'cluster', 'set-config-epoch', String(n + 1));
    if (n > 0) await ask(first.url, 'cluster', 'meet', '127.0.0.1', portOf(url), String(buses[n]));
  }
  const isWhole = (info: string) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${NODES}`);
  for (const { url } of nodes) await vi.waitUntil(async () => isWhole(await ask(url, 'cluster', 'info')), PATIENT);
  return {
    url: `redis+cluster://${nodes.map(({ url }) => `127.0.0.1:${portOf(url)}`).join(',')}`,
    nodes,
    async restart(n) {
      await startNode(n, Number(portOf(nodes[n]?.url ?? '')));
      for (const { url } of nodes) await vi.waitUntil(async () => isWhole(await ask(url, 'cluster', 'info')), PATIENT);
    },
    async close() {
      for (const node of nodes) await node.close();
    },
  };
}

/** Sends one command to one server and returns its answer as text. */
export async function ask(url: string, command: string, ...args: readonly string[]): Promise<string> {
  const redis = new Redis(url, { enableReadyCheck: false, retryStrategy: () => null });
  redis.on('error', () => undefined); // the rejected call reports the error to the caller
  try {
    return String(await redis.call(command, ...args));
  } finally {
    redis.disconnect();
  }
}

function portOf(url: string): string {
  return new URL(url).port;
}
