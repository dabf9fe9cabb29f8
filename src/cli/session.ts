/** What every command uses: where to write, which settings and data to use, and what to close at the end. */
import path from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../base/errors.ts';
import { makeChosenDirectory } from '../base/make-directory.ts';
import { withOptions } from '../base/reasons/template.ts';
import { initSettings, loadSettings } from '../settings/load.ts';
import type { Settings } from '../settings/settings.ts';
import { withSharedBudgets } from '../settings/shared-accounts.ts';
import type { Database } from '../storage/open.ts';
import { requireDataDirectory } from './data-directory.ts';
import { type ExitCode, FAILED } from './errors.ts';
import { DEFAULT_DATA, type GlobalOptions } from './global-options.ts';
import { createLog } from './log.ts';
import { createOutput, type Output } from './print/output.ts';
import type { Screen, TextStream } from './print/screen.ts';
import { Question } from './question.ts';
import { listenForReload, listenForStop, type SignalSource } from './signals.ts';
import type { WorkspaceOptions } from './workspace/open-parts.ts';
import type { StoreOptions } from './workspace/open-store.ts';
import type { Workspace } from './workspace/open-workspace.ts';

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

/** Performs a command with the arguments that commander passes. No exit code means DONE. */
export type Work<Args extends readonly unknown[]> = (
  session: Session,
  ...args: Args
) => Promise<ExitCode> | Promise<void>;

/** A commander action: opens a session, does the work, keeps its exit code, and closes the session whatever happens. */
export type Perform = <Args extends readonly unknown[]>(work: Work<Args>) => (...args: Args) => Promise<void>;

/** Adds these options to a command that has none of them: one of an alert has those of the process that reported it. */
export function completing(options: Readonly<Record<string, string | undefined>>) {
  return (command: string): string =>
    `lockstep ${/ --(config|data) /.test(command) ? command : withOptions(command, options)}`;
}

export class Session {
  readonly out: Output;
  readonly log: Logger;
  readonly env: Surroundings['env'];
  readonly cwd: string;
  readonly dataDir: string;
  /** Whether details of the implementation are wanted. */
  readonly isVerbose: boolean;
  /** A command for the user to copy, with the --config and --data of this one. */
  hint: (command: string) => string;
  readonly #around: Surroundings;
  readonly #options: GlobalOptions;
  /** As --data gives it; undefined: by default. */
  readonly #data: string | undefined;
  readonly #question: Question;
  readonly #closers: (() => Promise<void>)[] = [];
  #database: string | undefined;
  #reading: Promise<Settings> | undefined;
  #hasWarned = false;

  constructor(around: Surroundings, options: GlobalOptions) {
    const { stdout, stderr, env, cwd } = around;
    this.#around = around;
    this.#options = options;
    this.#data = options.data === DEFAULT_DATA ? undefined : options.data;
    this.env = env;
    this.cwd = cwd;
    this.dataDir = path.resolve(cwd, options.data);
    this.isVerbose = options.verbose;
    this.hint = completing({ config: options.config, data: this.#data });
    this.out = createOutput(stdout, stderr, { isJson: options.json, complete: this.hint });
    this.log = createLog(stderr, { isVerbose: options.verbose, clear: () => this.out.live('') });
    this.#question = new Question(around);
  }

  /** Whether there is a terminal on which a person can be asked. */
  get canAsk(): boolean {
    return this.out.isLive && this.#question.canAsk;
  }

  /** The database in use, once it is open; for messages about losing it. */
  database(): string | undefined {
    return this.#database;
  }

  /**
   * The settings of --config, read once. Their warnings are logged when something is opened with them. `orDefault`: without a
   * settings file, the one that comes with Lockstep. @throws LockstepError SETTINGS_MISSING, SETTINGS_INVALID
   */
  settings({ orDefault = false } = {}): Promise<Settings> {
    this.#reading ??= (async () => {
      if (this.#options.init) await this.#init();
      return withSharedBudgets(
        await loadSettings({ configFile: this.#options.config, orDefault, env: this.env, cwd: this.cwd }),
        this.env,
      );
    })();
    return this.#reading;
  }

  /** The command shows the warnings of the settings itself: they are not logged. */
  showsWarnings(): void {
    this.#hasWarned = true;
  }

  /**
   * This and the two below are opened for this command and closed with the session. The ledger and the workspace need the
   * settings file and the data directory of an earlier command, unless --init makes them; the service's store does not. What
   * opens them is loaded when needed: printing help or a settings error does not need most of Lockstep.
   * @throws LockstepError DATA_MISSING, DATA_WITHOUT_POSTGRES, DATA_FOREIGN
   */
  async openLedger(): Promise<Database> {
    const { openLedger } = await import('./workspace/open-store.ts');
    return this.#keep(openLedger(await this.#store()));
  }

  async openServiceStore(): Promise<Database> {
    const { openServiceStore } = await import('./workspace/open-store.ts');
    return this.#keep(openServiceStore(await this.#store({ orDefault: true, mayBeNew: true })));
  }

  async openWorkspace(own?: Pick<WorkspaceOptions, 'settings' | 'dataDir' | 'complete'>): Promise<Workspace> {
    await import('./bin/small-heap.mjs'); // other commands end before their heap has grown
    const { openWorkspace } = await import('./workspace/open-workspace.ts');
    const opening = own ? { ...own, log: this.log } : await this.#store();
    return this.#keep(openWorkspace({ complete: this.#hintElsewhere(opening.settings), ...opening, env: this.env }));
  }

  /**
   * Takes SIGINT and SIGTERM: the first says `words` and aborts the signal, the second ends the process and says so. `tell`:
   * how it says that; default: on stderr.
   */
  untilStopped(words: string, tell: (words: string) => void = this.out.complain): AbortSignal {
    const stopping = listenForStop(this.#around.signals, {
      onFirst: () => {
        this.#question.breakOff();
        tell(words);
      },
      onSecond: () => {
        tell('Stopped at once.');
        this.#around.abort(FAILED);
      },
    });
    this.#closers.unshift(async () => stopping.close()); // closed last, because closing the rest can take a while, too
    return stopping.signal;
  }

  /** Takes SIGHUP: calls `takeOver` with the settings of --config as they are then. What it or the reading throws is logged. */
  whenReloaded(takeOver: (settings: Settings) => Promise<void>): void {
    const reload = async (): Promise<void> => {
      try {
        await takeOver(await loadSettings({ configFile: this.#options.config, env: this.env, cwd: this.cwd }));
      } catch (error) {
        this.log.error(`the changed settings cannot be used, so the earlier ones stay in use. ${messageOf(error)}`);
      }
    };
    const listening = listenForReload(this.#around.signals, reload);
    this.#closers.push(() => listening.close());
  }

  /** Asks a yes-or-no question; undefined if the signal aborts or the input ends. */
  ask(question: string, signal: AbortSignal): Promise<'yes' | 'no' | undefined> {
    return this.#question.ask(question, signal);
  }

  /** From now on, `hint` names these files instead. */
  nameFiles(files: { readonly config: string; readonly data: string }): void {
    this.hint = completing(files);
  }

  /** Registers something else to close with the session. */
  closeLater(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Closes everything in reverse order. Idempotent. */
  async close(): Promise<void> {
    this.out.live('');
    // Postgres may cut the last connections of a pool when it stops; a warning about that would be noise.
    const { level } = this.log;
    if (!this.isVerbose) this.log.level = 'error';
    for (const close of this.#closers.splice(0).reverse()) await close();
    this.log.level = level;
  }

  async #keep<T extends Database | Workspace>(opening: Promise<T>): Promise<T> {
    const opened = await opening;
    this.#closers.push(() => opened.close());
    this.#database = 'database' in opened ? opened.database.describe : opened.describe;
    return opened;
  }

  async #init(): Promise<void> {
    const file = await initSettings({ configFile: this.#options.config, cwd: this.cwd });
    if (file !== undefined) this.out.complain(`Created the settings file ${file}: everything is embedded.`);
    if (await makeChosenDirectory('the data directory', this.dataDir, { mode: 0o700 }))
      this.out.complain(`Created the data directory ${this.dataDir}.`);
  }

  /** Logs the warnings of the settings once. */
  async #store({ orDefault = false, mayBeNew = false } = {}): Promise<StoreOptions> {
    const settings = await this.settings({ orDefault });
    if (!this.#hasWarned) for (const warning of settings.warnings) this.log.warn(warning);
    this.#hasWarned = true;
    if (settings.database.url === undefined)
      requireDataDirectory(this.dataDir, { mayBeNew: mayBeNew || this.#options.init });
    return { settings, dataDir: this.dataDir, log: this.log };
  }

  /** Alerts and the console are read in other folders. */
  #hintElsewhere({ file, database: { url } }: Settings): (command: string) => string {
    return completing({ config: file, data: url === undefined || this.#data ? this.dataDir : undefined });
  }
}
