/** What every command uses: where to write, which settings and data to use, and what to close at the end. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Logger } from 'pino';
import { messageOf, wrongUse } from '../base/errors.ts';
import { makeChosenDirectory } from '../base/make-directory.ts';
import { shellWord } from '../base/reasons/template.ts';
import { initSettings, loadSettings } from '../settings/load.ts';
import type { Settings } from '../settings/settings.ts';
import type { Database } from '../storage/open.ts';
import { type ExitCode, FAILED } from './errors.ts';
import { DEFAULT_DATA, type GlobalOptions } from './global-options.ts';
import { createLog } from './log.ts';
import { createOutput, type Output } from './print/output.ts';
import type { Screen, TextStream } from './print/screen.ts';
import { listenForReload, listenForStop, type SignalSource } from './signals.ts';
import type { StoreOptions } from './workspace/open-store.ts';
import type { Workspace, WorkspaceOptions } from './workspace/workspace.ts';

/** The process in which a command runs, with escaping streams. */
export interface Surroundings extends Omit<Process, 'stdout' | 'stderr'> {
  readonly stdout: Screen;
  readonly stderr: Screen;
}

/** The process with its original streams. */
export interface Process {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signals: SignalSource;
  /** For answers of a person. */
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Ends the process at once. */
  readonly abort: (exitCode: number) => void;
}

export interface Session {
  readonly out: Output;
  readonly log: Logger;
  readonly env: Surroundings['env'];
  readonly cwd: string;
  readonly dataDir: string;
  /** Whether details of the implementation are wanted. */
  readonly isVerbose: boolean;
  /** The database in use, once it is open; for messages about losing it. */
  readonly database: () => string | undefined;
  /**
   * The settings of --config, read once. Their warnings are logged when something is opened with them. `orDefault`: without a
   * settings file, the one that comes with Lockstep. @throws LockstepError SETTINGS_MISSING, SETTINGS_INVALID
   */
  settings(how?: { readonly orDefault?: boolean }): Promise<Settings>;
  /** The command shows the warnings of the settings itself: they are not logged. */
  showsWarnings(): void;
  /** Takes SIGHUP: calls `takeOver` with the settings of --config as they are then. What it or the reading throws is logged. */
  whenReloaded(takeOver: (settings: Settings) => Promise<void>): void;
  /**
   * The parts below are opened for this command and closed with the session. The ledger and the workspace need the settings
   * file and the data directory of an earlier command, unless --init makes them; the service's store does not.
   * @throws LockstepError DATA_MISSING
   */
  openLedger(): Promise<Database>;
  openServiceStore(): Promise<Database>;
  openWorkspace(own?: Pick<WorkspaceOptions, 'settings' | 'dataDir' | 'complete'>): Promise<Workspace>;
  /**
   * Takes SIGINT and SIGTERM: the first says `words` and aborts the signal, the second ends the process. `tell`: how it says
   * them; default: on stderr.
   */
  untilStopped(words: string, tell?: (words: string) => void): AbortSignal;
  /** Whether there is a terminal on which a person can be asked. */
  readonly canAsk: boolean;
  /** Asks a yes-or-no question; undefined if the signal aborts or the input ends. */
  ask(question: string, signal: AbortSignal): Promise<'yes' | 'no' | undefined>;
  /** Registers something else to close with the session. */
  closeLater(close: () => Promise<void>): void;
  /** A command for the user to copy, with the --config and --data of this one. */
  hint(command: string): string;
  /** Closes everything in reverse order. Idempotent. */
  close(): Promise<void>;
}

/** Performs a command with the arguments that commander passes. No exit code means DONE. */
export type Work<Args extends readonly unknown[]> = (
  session: Session,
  ...args: Args
) => Promise<ExitCode> | Promise<void>;

/** A commander action: opens a session, does the work, keeps its exit code, and closes the session whatever happens. */
export type Perform = <Args extends readonly unknown[]>(work: Work<Args>) => (...args: Args) => Promise<void>;

/** Adds these options to a command that has none of them: one of an alert has those of the process that reported it. */
export function completing(options: Readonly<Record<string, string | undefined>>) {
  const added = Object.entries(options)
    .map(([option, file]) => (file === undefined ? '' : ` --${option} ${shellWord(file)}`))
    .join('');
  return (command: string): string => `lockstep ${/ --(config|data) /.test(command) ? command : `${command}${added}`}`;
}

export function openSession(around: Surroundings, options: GlobalOptions): Session {
  const { env, cwd } = around;
  const { config, data } = options;
  const given = { config, data: data === DEFAULT_DATA ? undefined : data };
  const hint = completing(given);
  const out = createOutput(around.stdout, around.stderr, { isJson: options.json, complete: hint });
  const log = createLog(around.stderr, { isVerbose: options.verbose, clear: () => out.live('') });
  const dataDir = path.resolve(cwd, options.data);
  /** Alerts and the console are read in other folders. */
  const hintElsewhere = ({ file, database: { url } }: Settings) =>
    completing({ config: file, data: url === undefined || given.data ? dataDir : undefined });
  const closers: (() => Promise<void>)[] = [];
  let database: string | undefined;
  let reading: Promise<Settings> | undefined;
  let hasWarned = false;
  let isAsking = false;

  async function keep<T extends Database | Workspace>(opening: Promise<T>): Promise<T> {
    const opened = await opening;
    closers.push(() => opened.close());
    database = 'database' in opened ? opened.database.describe : opened.describe;
    return opened;
  }

  async function init(): Promise<void> {
    const file = await initSettings({ configFile: options.config, cwd });
    if (file !== undefined) out.complain(`Created the settings file ${file}: everything is embedded.`);
    if (await makeChosenDirectory('the data directory', dataDir, { mode: 0o700 }))
      out.complain(`Created the data directory ${dataDir}.`);
  }
  const settings = ({ orDefault = false } = {}): Promise<Settings> => {
    reading ??= (async () => {
      if (options.init) await init();
      return loadSettings({ configFile: options.config, orDefault, env, cwd });
    })();
    return reading;
  };
  const settingsToUse = async (how: { orDefault?: boolean }): Promise<Settings> => {
    const { warnings } = await settings(how);
    if (!hasWarned) for (const warning of warnings) log.warn(warning);
    hasWarned = true;
    return settings();
  };
  /** In the wrong directory, a command would work on a new, empty workspace and report that all is well. */
  function requireData({ database: { url } }: Settings): void {
    if (url !== undefined || existsSync(dataDir)) return;
    const message =
      `There is no data directory ${dataDir}. Change to the right directory, or name yours with --data. ` +
      'To start a new workspace here, add --init. To see Lockstep at work first: `lockstep demo`';
    throw wrongUse(message, 'DATA_MISSING');
  }
  // Loaded when needed: printing help or a settings error does not need most of Lockstep.
  const stores = () => import('./workspace/open-store.ts');
  const store = async (how: { orDefault?: boolean } = {}): Promise<StoreOptions> => ({
    settings: await settingsToUse(how),
    dataDir,
    log,
  });
  const existing = async (): Promise<StoreOptions> => {
    const opening = await store();
    requireData(opening.settings);
    return opening;
  };

  return {
    out,
    log,
    env,
    cwd,
    dataDir,
    isVerbose: options.verbose,
    database: () => database,
    settings,
    showsWarnings() {
      hasWarned = true;
    },
    openLedger: async () => keep((await stores()).openLedger(await existing())),
    openServiceStore: async () => keep((await stores()).openServiceStore(await store({ orDefault: true }))),
    async openWorkspace(own) {
      await import('./bin/small-heap.mjs'); // other commands end before their heap has grown
      const { openWorkspace } = await import('./workspace/open-workspace.ts');
      const opening = await (own ? { ...own, log } : existing());
      return keep(openWorkspace({ complete: hintElsewhere(opening.settings), ...opening, env }));
    },
    untilStopped(words, tell = out.complain) {
      const stopping = listenForStop(around.signals, {
        onFirst: () => {
          if (isAsking) around.stdout.write('\n'); // the question ends without a line break
          tell(words);
        },
        onSecond: () => around.abort(FAILED),
      });
      closers.unshift(async () => stopping.close()); // closed last, because closing the rest can take a while, too
      return stopping.signal;
    },
    whenReloaded(takeOver) {
      const reload = async (): Promise<void> => {
        try {
          await takeOver(await loadSettings({ configFile: options.config, env, cwd }));
        } catch (error) {
          log.error(`the changed settings cannot be used, so the earlier ones stay in use. ${messageOf(error)}`);
        }
      };
      const listening = listenForReload(around.signals, reload);
      closers.push(() => listening.close());
    },
    canAsk: out.isLive && around.stdin?.isTTY === true,
    async ask(question, signal) {
      const { stdin } = around;
      if (!stdin) return undefined;
      const asking = createInterface({ input: stdin });
      try {
        around.stdout.write(`${question} [y/N] `);
        isAsking = true;
        // At the end of the input, the question itself never settles.
        const ended = once(asking, 'close').then(() => undefined);
        const answer = await Promise.race([asking.question('', { signal }), ended]);
        if (answer === undefined) return undefined;
        return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
      } catch {
        return undefined; // stopped
      } finally {
        isAsking = false;
        asking.close();
      }
    },
    closeLater: (close) => void closers.push(close),
    hint,
    async close() {
      out.live('');
      // Postgres may cut the last connections of a pool when it stops; a warning about that would be noise.
      const { level } = log;
      if (!options.verbose) log.level = 'error';
      for (const close of closers.splice(0).reverse()) await close();
      log.level = level;
    },
  };
}
