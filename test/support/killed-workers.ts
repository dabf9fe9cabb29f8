/** Processes that work on the runs of drawn services: one or two at a time, and one is killed every few calls. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom } from './drawn-service.ts';
import { programFile } from './programs.ts';

/** After its last call a process is killed at once, or while it writes to the ledger. */
const DELAYS_MS = [0, 0, 5, 20, 60];

export interface KilledWorkers {
  /** Call it when a service has received a request, before it answers. */
  called(): void;
  kills(): number;
  /** @throws if a process ended by itself */
  close(): Promise<void>;
}

interface KilledHow {
  /** Of the program `world-program`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Between two kills, on average: enough for the work to advance. */
  readonly calls: number;
}

export function startKilledWorkers({ args, env, calls }: KilledHow): KilledWorkers {
  const { int, pick } = randomFrom(1);
  const workers = new Set<ChildProcess>();
  const endedAlone: string[] = [];
  let kills = 0;
  let callsLeft = 0;
  let isClosed = false;

  function startSome(): void {
    callsLeft = 1 + int(2 * calls);
    for (const most = 1 + int(2); workers.size < most; ) start();
  }
  function start(): void {
    const program = [programFile('test/support/world-program'), ...args];
    const worker = spawn(process.execPath, program, { env, stdio: ['pipe', 'inherit', 'inherit'] });
    workers.add(worker);
    worker.once('exit', (code) => {
      workers.delete(worker);
      if (code !== null) endedAlone.push(`a worker ended with ${code}`);
      if (!isClosed) startSome();
    });
  }
  async function killOne(): Promise<void> {
    await delay(pick(DELAYS_MS));
    if (!isClosed && pick([...workers])?.kill('SIGKILL')) kills++;
  }
  startSome();
  return {
    called() {
      if (--callsLeft === 0) void killOne();
    },
    kills: () => kills,
    async close() {
      isClosed = true;
      await Promise.all(
        [...workers].map((worker) => {
          const exited = once(worker, 'exit');
          worker.kill('SIGKILL');
          return exited;
        }),
      );
      if (endedAlone.length > 0) throw new Error(endedAlone.join('; '));
    },
  };
}
