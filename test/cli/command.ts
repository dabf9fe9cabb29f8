/** Runs the command line in this process and returns its output and exit code. */
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type pg from 'pg';
import { afterEach, vi } from 'vitest';
import { runCommand } from '../../src/cli/main.ts';
import type { TextStream } from '../../src/cli/print/screen.ts';
import { initSettings } from '../../src/settings/load.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import type { FreshDatabase } from '../support/database.ts';
import { jsonIn } from '../support/json-in.ts';
import { PATIENT } from '../support/patient.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of stdout, parsed. Loosely typed: the assertions check the shape. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what an assertion then checks
  readonly json: any;
}

export interface Around {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the output is a terminal. */
  readonly isTTY?: boolean;
  /** What a person at the terminal answers, such as `n\n`. */
  readonly answers?: string;
  /** Emits the signals that the process receives. */
  readonly signals?: EventEmitter;
}

/** Runs a command to its end. */
export async function command(
  args: readonly string[],
  { cwd, env = {}, isTTY, answers, signals = new EventEmitter() }: Around,
): Promise<CommandResult> {
  const [stdout, stderr] = [textStream(isTTY), textStream(isTTY)];
  const person = Object.assign(new PassThrough(), { isTTY: true });
  if (answers !== undefined) person.end(answers);
  const process = { stdout, stderr, env, cwd, signals, abort: () => undefined };
  const code = await runCommand(args, { ...process, ...(answers !== undefined && { stdin: person }) });
  const last = stdout.text().trimEnd().split('\n').at(-1) ?? '';
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: jsonIn(last) };
}

/** Keeps what is written; `isTTY` makes it look like a terminal. */
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

/** Folders that are removed after each test: empty, or with the settings file that comes with Lockstep. */
export function scratchFolders(): (given?: { readonly withSettings: boolean }) => Promise<string> {
  const made: string[] = [];
  afterEach(async () => {
    for (const dir of made.splice(0)) await rm(dir, { recursive: true, force: true });
  });
  return async ({ withSettings } = { withSettings: false }) => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-cli-'));
    made.push(dir);
    if (withSettings) await initSettings({ cwd: dir });
    return dir;
  };
}

/** For the file that calls it: runs commands with this database and these settings, each in a folder of its own. */
export function commandsWith(
  { connection }: Pick<FreshDatabase, 'connection'>,
  settings: string,
  more: Around['env'] = {},
) {
  const folder = scratchFolders();
  const env = { DATABASE_URL: databaseUrl(connection), ...more };
  return async (...args: readonly string[]) => {
    const cwd = await folder();
    await writeFile(path.join(cwd, 's.yaml'), settings);
    return { cwd, ...(await command([...args, '--config', 's.yaml'], { cwd, env })) };
  };
}

/** Runs `work`, and sends it Ctrl-C while it waits for `table`, which another session of `database` has locked. */
export async function interruptedAt<T>(
  database: Pick<FreshDatabase, 'pool'>,
  table: string,
  work: (signals: EventEmitter) => Promise<T>,
): Promise<T> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const signals = new EventEmitter();
  let ending: Promise<T> | undefined;
  await inTransaction(database.pool, async (db) => {
    await db.query(`lock table ${table}`);
    ending = work(signals);
    await vi.waitUntil(async () => (await database.pool.query(waiting)).rowCount === 1, PATIENT);
    signals.emit('SIGINT');
  });
  return ending as Promise<T>; // safe: the transaction has begun it
}

/** A database's address. pg expects a socket directory as a percent-encoded host. */
export function databaseUrl({ host, port, user, database }: pg.PoolConfig): string {
  return `postgres://${user}@${encodeURIComponent(host ?? 'localhost')}:${port}/${database}`;
}
