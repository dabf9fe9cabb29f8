/** A Redis for one test run: the one REDIS_URL names, or one started from PATH without persistence. */
import { spawn } from 'node:child_process';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TestRedis {
  readonly url: string;
  close(): Promise<void>;
}

const PROGRAMS = ['redis-server', 'valkey-server'];
/** Runs a program until our end of its stdin closes: with `close`, or with this process, even when it is killed. */
const UNTIL_WE_END = 'command -v "$1" || exit 127; "$@" </dev/null & read -r line; kill -9 $!; wait';
const START_MS = 20_000;

/** Undefined if there is no Redis. `dir` is a folder for its files. */
export async function startRedis(dir: string): Promise<TestRedis | undefined> {
  const given = process.env.REDIS_URL;
  if (given) return { url: given, close: async () => undefined };
  return startOwnRedis(dir, FORGETFUL);
}

const FORGETFUL = ['--save', '', '--appendonly', 'no'];
/** Keeps nothing, and a replica that connects waits for no other. */
export const AT_ONCE = [...FORGETFUL, '--repl-diskless-sync-delay', '0'];
/** Writes every command that it receives into `dir`, as plain text. */
export const LASTING = ['--appendonly', 'yes', '--rdbcompression', 'no'];

/** `options`: what follows the program; a configuration file comes first. `port`: that of an earlier one, which has ended. Undefined if no Redis is installed. */
export async function startOwnRedis(
  dir: string,
  options: readonly string[],
  port?: number,
): Promise<TestRedis | undefined> {
  const start = async (program: string) => startProgram([program, ...options], dir, port ?? (await freePort()));
  for (const program of PROGRAMS) {
    // Another program may have taken the free port meanwhile.
    const started = await start(program).catch((error: unknown) => {
      if (port !== undefined) throw error;
      return start(program);
    });
    if (started) return started;
  }
  return undefined;
}

async function startProgram(
  [program = '', ...options]: readonly string[],
  dir: string,
  port: number,
): Promise<TestRedis | undefined> {
  const command = [program, ...options, '--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  const child = spawn('sh', ['-c', UNTIL_WE_END, 'sh', ...command], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const deadline = Date.now() + START_MS;
  while (!hasEnded && !(await answersPing(port))) {
    if (Date.now() > deadline) {
      child.stdin.end();
      throw new Error(`${program} does not answer on port ${port}`);
    }
    await sleep(20);
  }
  if (hasEnded) return undefined;
  const close = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  return { url: `redis://127.0.0.1:${port}`, close };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const done = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('data', (answer) => done(String(answer).startsWith('+PONG')));
    socket.once('error', () => done(false));
    socket.setTimeout(1000, () => done(false));
  });
}
