/**
 * Scans the whole list of tasks and reports its confidence. Pages cannot overlap, so one pass proves nothing: it has to agree
 * with another. The ledger's knowledge counts as the other pass: a pass that has seen every known task agrees with the scan
 * before it, and so does one whose few missing tasks were read by their ids. If there is nothing to compare with, or much is
 * missing, the list is read again until two passes agree.
 */
import type { Kept } from '../../client/lists/pass.ts';
import type { Proof } from '../../client/lists/scan.ts';
import { SeenIds } from '../../client/lists/seen-ids.ts';
import { passOverTasks, type TaskPages } from '../../client/lists/task-pages.ts';
import type { TaskState } from '../../contract/target.ts';
import { RunFailed } from '../../engine/account/failure.ts';

/** A task of a page with its hash, which reveals an id that two tasks share. */
export interface ScannedTask {
  readonly id: string;
  readonly hash: string;
  readonly task: TaskState;
  /** When the read that showed it began, on the performance.now() scale. */
  readonly readAtMs: number;
}

export interface ListScan {
  readonly firstPage: TaskPages<ScannedTask>['firstPage'];
  readonly read: TaskPages<ScannedTask>['read'];
  /** Keeps a page; receives how many of its tasks no pass has seen before. */
  readonly keep: (tasks: readonly ScannedTask[], newInAll: number) => Promise<void>;
  /** Known tasks that are not among these. */
  readonly missing: (seen: Seen) => Promise<readonly string[]>;
  /** Reads missing tasks by their ids; found tasks count as seen. Returns false if the service cannot read tasks by id. */
  readonly lookUp: (missing: readonly string[], seen: Seen) => Promise<boolean>;
  /** An earlier scan has seen the whole list: one pass may agree with what is known from it. */
  readonly hasBaseline: boolean;
}

/** The tasks that a scan has seen. */
export class Seen {
  readonly #ids = new SeenIds();
  #first: string | undefined;
  #middle: string | undefined;
  #last: string | undefined;
  /** Calls to `note`. */
  #pages = 0;

  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** From the end of the list, its middle and its beginning. */
  get witnesses(): readonly string[] {
    return [...new Set([this.#last, this.#middle, this.#first])].filter((id) => id !== undefined);
  }

  /** A task that was found by its id counts as seen. */
  add(id: string): void {
    this.#ids.note(id, LOOKED_UP);
  }

  note(tasks: readonly ScannedTask[], pass: number): Kept {
    return this.#ids.notePage(tasks, pass, this.#pages++, (id) => {
      this.#first ??= id;
      this.#last = id;
      const isPowerOfTwo = (this.size & (this.size - 1)) === 0;
      if (isPowerOfTwo) this.#middle = id;
    });
  }
}

/** The number of the pass for tasks that were found by their ids. */
const LOOKED_UP = 0;

export interface ListScanned {
  readonly proof: Exclude<Proof, 'proven'>;
  readonly reason: string;
  readonly seen: Seen;
  /** Known tasks that no pass has seen; empty if the scan is not complete. */
  readonly missing: readonly string[];
  readonly pages: number;
}

const MAX_PASSES = 3;
const MAX_TASKS = 1_000_000;

/** @throws RunFailed LIST_ENDLESS */
export async function scanTaskList(scan: ListScan): Promise<ListScanned> {
  const seen = new Seen();
  let pages = 0;
  let previous: number | undefined;
  for (let pass = 1; ; pass++) {
    const { result, newInPass, newInAll } = await passOver(scan, seen, pass, () => pages++);
    if (result.status !== 'again') {
      const reason = 'reason' in result ? result.reason : 'the end of the list was not found';
      return { proof: 'unproven', reason, seen, missing: [], pages };
    }
    const missing = await scan.missing(seen);
    const complete = { proof: 'weak', reason: result.reason, seen, pages } as const;
    const mayLookUp = pass === 1 && !result.isMoved && scan.hasBaseline && missing.length <= lookUpsFor(pages);
    if (mayLookUp && (missing.length === 0 || (await scan.lookUp(missing, seen)))) {
      return { ...complete, missing: missing.filter((id) => !seen.has(id)) };
    }
    if (previous === newInPass && newInAll === 0 && !result.isMoved) return { ...complete, missing };
    if (pass === MAX_PASSES) {
      return { proof: 'unproven', reason: `${MAX_PASSES} passes did not agree`, seen, missing: [], pages };
    }
    previous = newInPass;
  }
}

async function passOver(scan: ListScan, seen: Seen, pass: number, onPage: () => void) {
  const total = { newInPass: 0, newInAll: 0 };
  const result = await passOverTasks<ScannedTask>({
    firstPage: scan.firstPage,
    read: (...asked) => {
      onPage();
      return scan.read(...asked);
    },
    keep: async (tasks) => {
      const kept = seen.note(tasks, pass);
      if (seen.size > MAX_TASKS) throw endless();
      total.newInPass += kept.newInPass;
      total.newInAll += kept.newInAll;
      await scan.keep(tasks, kept.newInAll);
      return kept;
    },
  });
  return { result, ...total };
}

/** How many missing tasks a scan reads by their ids: few calls compared with its own. */
export function lookUpsFor(pages: number): number {
  return Math.max(100, Math.floor(pages / 10));
}

function endless(): RunFailed {
  const message = `The list of tasks has more than ${MAX_TASKS} tasks and does not end: the service may return invented or changing tasks. No task was treated as gone.`;
  return new RunFailed('LIST_ENDLESS', message);
}
