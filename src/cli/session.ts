/** What every command works with: where to write, which settings and data to use, and what to close when it is over. */
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/open.ts';
import { shellWord } from '../reasons/template.ts';
import { loadSettings } from '../settings/load.ts';
import type { Settings } from '../settings/settings.ts';
import { type ExitCode, FAILED } from './errors.ts';
import { createLog } from './log.ts';
import { createOutput, type Output } from './output.ts';
import type { Screen, TextStream } from './screen.ts';
import { listenForStop, type SignalSource } from './signals.ts';
import type { StoreOptions } from './store.ts';
import type { Workspace } from './wire.ts';

/** The process around a command, whose streams are screens. */
export interface Surroundings extends Omit<Process, 'stdout' | 'stderr'> {
  readonly stdout: Screen;
  readonly stderr: Screen;
}

/** The process as it is. */
export interface Process {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signals: SignalSource;
  /** Where a person answers, if there is one. */
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Ends the process at once. */
  readonly abort: (exitCode: number) => void;
}

/** The options that every command takes. */
export interface GlobalOptions {
  readonly config?: string;
  readonly data: string;
  readonly json: boolean;
  readonly verbose: boolean;
}

export const DEFAULT_DATA = '.lockstep';

export interface Session {
  readonly out: Output;
  readonly log: Logger;
  readonly env: Surroundings['env'];
  readonly cwd: string;
  readonly dataDir: string;
  /** Which database is in use, once one is; for messages about losing it. */
  readonly database: () => string | undefined;
  /** The settings of --config, read once; whatever opens something with them logs their warnings. */
  settings(): Promise<Settings>;
  /** The parts below are opened for this command and closed with the session. */
  openLedger(): Promise<Database>;
  openServiceStore(): Promise<Database>;
  openWorkspace(own?: { settings: Settings; dataDir: string }): Promise<Workspace>;
  /** Takes SIGINT and SIGTERM: the first says `words` and aborts the signal, the second ends the process. */
  untilStopped(words: string): AbortSignal;
  /** Whether a person sits at the terminal who can be asked. */
  readonly canAsk: boolean;
  /** Asks for yes or no; no where the signal aborts. */
  ask(question: string, signal: AbortSignal): Promise<boolean>;
  /** Closes something else with the session. */
  closeLater(close: () => Promise<void>): void;
  /** A command for the user to copy, with the --config and --data of this one. */
  hint(command: string): string;
  /** Closes what was opened last first. Idempotent. */
  close(): Promise<void>;
}

/** Does a command, given its arguments as commander gives them. Without an exit code it is done. */
export type Work<Args extends readonly unknown[]> = (
  session: Session,
  ...args: Args
) => Promise<ExitCode> | Promise<void>;

/** A commander action: opens a session, does the work, keeps its exit code, and closes the session whatever happens. */
export type Perform = <Args extends readonly unknown[]>(work: Work<Args>) => (...args: Args) => Promise<void>;

export function openSession(around: Surroundings, options: GlobalOptions): Session {
  const { env, cwd } = around;
  const out = createOutput(around.stdout, around.stderr, { isJson: options.json });
  const log = createLog(around.stderr, { isVerbose: options.verbose });
  const dataDir = path.resolve(cwd, options.data);
  const closers: (() => Promise<void>)[] = [];
  let database: string | undefined;
  let reading: Promise<Settings> | undefined;
  let hasWarned = false;

  async function keep<T extends Database | Workspace>(opening: Promise<T>): Promise<T> {
    const opened = await opening;
    closers.push(() => opened.close());
    database = 'database' in opened ? opened.database.describe : opened.describe;
    return opened;
  }

  const settings = (): Promise<Settings> => {
    reading ??= loadSettings({ configFile: options.config, env, cwd });
    return reading;
  };
  const settingsToUse = async (): Promise<Settings> => {
    const { warnings } = await settings();
    if (!hasWarned) for (const warning of warnings) log.warn(warning);
    hasWarned = true;
    return settings();
  };
  // Loaded when asked for: most of Lockstep is not needed to print a help text or a settings error.
  const stores = () => import('./store.ts');
  const store = async (): Promise<StoreOptions> => ({ settings: await settingsToUse(), dataDir, log });

  return {
    out,
    log,
    env,
    cwd,
    dataDir,
    database: () => database,
    settings,
    openLedger: async () => keep((await stores()).openLedger(await store())),
    openServiceStore: async () => keep((await stores()).openServiceStore(await store())),
    async openWorkspace(own) {
      const { openWorkspace } = await import('./wire.ts');
      return keep(openWorkspace({ ...(await (own ? { ...own, log } : store())), env }));
    },
    untilStopped(words) {
      const stopping = listenForStop(around.signals, {
        onFirst: () => out.complain(words),
        onSecond: () => around.abort(FAILED),
      });
      closers.unshift(async () => stopping.close()); // last of all: closing can take a while, too
      return stopping.signal;
    },
    canAsk: out.isLive && around.stdin?.isTTY === true,
    async ask(question, signal) {
      const { stdin } = around;
      if (!stdin) return false;
      const asking = createInterface({ input: stdin });
      try {
        around.stdout.write(`${question} [y/N] `);
        const answer = await asking.question('', { signal });
        return /^y(es)?$/i.test(answer.trim());
      } catch {
        return false; // stopped, or the input has ended
      } finally {
        asking.close();
      }
    },
    closeLater: (close) => void closers.push(close),
    hint(command) {
      const config = options.config === undefined ? '' : ` --config ${shellWord(options.config)}`;
      const data = options.data === DEFAULT_DATA ? '' : ` --data ${shellWord(options.data)}`;
      return `lockstep ${command}${config}${data}`;
    },
    async close() {
      out.live('');
      // A pool's last connections may be cut by the Postgres that ends with it; that warning would be about nothing.
      if (!options.verbose) log.level = 'error';
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
