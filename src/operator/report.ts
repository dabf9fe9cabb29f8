/** The report of a run: the object that --json prints. Only types, because the package has those of all that this module imports. */
import type { Audit } from '../engine/ledger/audit-debts.ts';
import type { Counts } from '../engine/ledger/rows.ts';
import type { LeftOut, RunStatus, ScanProof } from '../engine/ledger/runs.ts';
import type { Unsettled } from '../engine/ledger/views/row-groups.ts';

/** Stable, because scripts read it. */
export interface RunReport {
  readonly run: string;
  readonly sync: string;
  /** Of the sync: contacts, tasks or orders. */
  readonly type: string;
  readonly status: RunStatus;
  /** What the status means for people now, such as `interrupted`. */
  readonly state: RunState;
  /** The same in words, such as `waiting for run-1`. */
  readonly stateWords: string;
  readonly dryRun: boolean;
  /** `in` is the sum of the others. For a dry run: what would happen. */
  readonly counts: Counts;
  /** Of the rows counted as `unknown`: how many may have arrived at the service. */
  readonly unsettled?: Unsettled;
  /** Of the rows counted as `review`: how many a person has decided; the next run of the sync, or a retry of the load, applies it. */
  readonly decided?: number;
  /** With those of its parts, such as the run that creates a load's customers. */
  readonly calls: number;
  /** It has made more calls than these: of a process that was killed, or of reads that got no answer. */
  readonly callsMissed: boolean;
  /** While a process worked on it. Waiting for a person or a worker is not included. */
  readonly durationMs: number;
  readonly budget: {
    /** Null if the settings no longer name the account, or if its limit is discovered. */
    readonly allowedPerSecond: number | null;
    /** The share of the calls allowed in this time that was used, 0 to 1; null if it is not known. */
    readonly used: number | null;
    /** Answers that said "slow down". */
    readonly limited: number;
    /** Until when the service has asked to wait; only while the run waits for it. */
    readonly pausedUntil?: Date;
  };
  /** Null until the scan has ended. */
  readonly scan: ScanProof | null;
  /** Contacts or orders that a filter left out. They are not in `counts`. Only if the sync or the load has a filter. */
  readonly leftOut?: LeftOut;
  readonly results: Readonly<Record<string, string>>;
  /** About rows that may have got a second record: what is still to be checked, and what was wrong. */
  readonly audit?: Audit;
  readonly error?: { readonly code: string; readonly message: string };
  /** The name of the plan that awaits approval: an approval names it. */
  readonly plan?: string;
}

/** Stable, because scripts read it. */
export type RunState =
  /** A process reads the file of the load. */
  | 'receiving'
  /** No process has worked on it yet. */
  | 'queued'
  | 'running'
  /** Unfinished, and no process works on it. */
  | 'interrupted'
  /** For another run, or for its suspended account. */
  | 'waiting'
  | 'awaiting-approval'
  | 'paused'
  /** Done; rows that were sent again are still to be checked. */
  | 'auditing'
  | 'done'
  | 'failed'
  | 'not-approved'
  | 'cancelled';
