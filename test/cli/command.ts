/** The command line in this process: what a command wrote, and its exit code. */
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { afterEach } from 'vitest';
import { runCommand } from '../../src/cli/main.ts';
import type { TextStream } from '../../src/cli/screen.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of stdout, parsed. Typed loosely: the assertions say what it has to be. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what an assertion then checks
  readonly json: any;
}

export interface Around {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it writes to a terminal. */
  readonly isTTY?: boolean;
}

/** Runs a command to its end; it must not need a signal. */
export async function command(args: readonly string[], { cwd, env = {}, isTTY }: Around): Promise<CommandResult> {
  const [stdout, stderr] = [textStream(isTTY), textStream(isTTY)];
  const abort = () => undefined;
  const code = await runCommand(args, { stdout, stderr, env, cwd, signals: new EventEmitter(), abort });
  const last = stdout.text().trimEnd().split('\n').at(-1) ?? '';
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: parsed(last) };
}

/** Keeps what is written; `isTTY` makes a terminal of it. */
export function textStream(isTTY = false): TextStream & { text(): string } {
  let text = '';
  return {
    isTTY,
    columns: 60,
    write(part, done) {
      text += part;
      done?.();
    },
    text: () => text,
  };
}

/** Folders that are removed after each test. */
export function scratchFolders(): () => Promise<string> {
  const made: string[] = [];
  afterEach(async () => {
    for (const dir of made.splice(0)) await rm(dir, { recursive: true, force: true });
  });
  return async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-cli-'));
    made.push(dir);
    return dir;
  };
}

/** A database's address; pg takes a socket's directory as a host that is percent-encoded. */
export function databaseUrl({ host, port, user, database }: pg.PoolConfig): string {
  return `postgres://${user}@${encodeURIComponent(host ?? 'localhost')}:${port}/${database}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
