/** The command line as users start it: real processes that always end with the test file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { jsonIn } from '../support/json-in.ts';

const PROGRAM = path.join(import.meta.dirname, '../../src/cli/bin/lockstep.mjs');

export interface Surroundings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Finished {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
  /** The last line of stdout, parsed. Loosely typed: the assertions check the shape. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what an assertion then checks
  readonly json: any;
}

export interface Running {
  readonly pid: number;
  /** The first line of stdout, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: as `json` above
  ready(): Promise<any>;
  /** Resolves once stdout holds `text`. */
  says(text: string): Promise<void>;
  /** Resolves with the first line of stderr that holds `text`. */
  logs(text: string): Promise<string>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Finished>;
}

const running = new Set<ChildProcess>();

/** Kills processes that a failed test left behind; each test file ends so (end-processes.ts). */
export async function endProcesses(): Promise<void> {
  for (const child of running) {
    const closed = once(child, 'close'); // it may have exited, and have output left
    child.kill('SIGKILL');
    await closed;
  }
}

/** Runs a command to its end. */
export function lockstep(args: readonly string[], around: Surroundings): Promise<Finished> {
  return startLockstep(args, around).ended;
}

export function startLockstep(args: readonly string[], { cwd, env = {} }: Surroundings, program = PROGRAM): Running {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let [stdout, stderr] = ['', ''];
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout)
      .once('line', resolve)
      .once('close', () => reject(new Error(`it said nothing: ${stderr}`)));
  });
  firstLine.catch(() => undefined); // most tests do not wait for it
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
  });
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  const ended = once(child, 'close').then(([code]): Finished => {
    running.delete(child);
    const last = stdout.trimEnd().split('\n').at(-1) ?? '';
    return { code, stdout, stderr, tookMs: performance.now() - startedAtMs, json: jsonIn(last) };
  });
  return {
    pid: child.pid ?? 0,
    ready: async () => JSON.parse(await firstLine),
    async says(text) {
      for await (const _ of iterateUntil(child, child.stdout, () => stdout.includes(text)));
    },
    async logs(text) {
      const line = () =>
        stderr
          .split('\n')
          .slice(0, -1)
          .find((one) => one.includes(text));
      for await (const _ of iterateUntil(child, child.stderr, () => line() !== undefined));
      return line() ?? '';
    },
    signal: (name) => child.kill(name),
    ended,
  };
}

async function* iterateUntil(child: ChildProcess, stream: Readable, isReached: () => boolean): AsyncGenerator<void> {
  while (!isReached()) {
    if (child.exitCode !== null) throw new Error('it ended before');
    await once(stream, 'data');
    yield;
  }
}
