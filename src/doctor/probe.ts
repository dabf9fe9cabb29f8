/**
 * The doctor's words. An *examination* of an account's service is a row of *probes*; each answers one or more gaps of the
 * contract with *findings*. One probe is one file in probes/, and what it may touch arrives through the examination.
 */
import type { Client } from '../client/client.ts';
import type { Dialect, Json, Kind } from '../client/dialect.ts';
import type { Prefix } from '../contract/operations.ts';
import type { Caller } from './caller.ts';
import type { ListSeen } from './lists.ts';

/** What is examined: an account's service, through its client and budget, and what its settings say so far. */
export interface ProbedAccount {
  readonly name: string;
  readonly baseUrl: string;
  readonly client: Pick<Client, 'inspect'>;
  readonly prefix: 'auto' | Prefix;
  readonly dialect: Dialect;
  readonly hasAuthorization: boolean;
  /** Undefined where the budget discovers it. */
  readonly ratePerSecond: number | undefined;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  /** Where a person mends a key that is refused. */
  readonly keySource: string;
}

/** `certain`: seen. `likely`: what was seen leaves another reading open. `unknown`: nothing was seen that would tell. */
export type Sure = 'certain' | 'likely' | 'unknown';

export interface Setting {
  /** Such as `accounts.demo.dialect.firstTaskPage`. */
  readonly path: string;
  readonly value: Json;
}

export interface Finding {
  /** The gap's id in src/contract/gaps.ts, or one of the doctor's own topics. */
  readonly gap: string;
  /** What in particular: a kind of records, mostly. */
  readonly about?: string;
  readonly found: string;
  readonly sure: Sure;
  /** What the worker does about it. */
  readonly does: string;
  /** The setting that says so outright; it may be saved where it is certain. */
  readonly setting?: Setting;
  /** What a person has to do or decide. */
  readonly needs?: string;
}

export interface Probe {
  /** For the progress line: "looking at …". */
  readonly name: string;
  /** The gaps it answers, where it is given something to look at. */
  readonly gaps: readonly string[];
  readonly access: 'reads' | 'writes';
  run(exam: Examination): Promise<readonly Finding[]>;
}

/** A test record that stays behind: the contract has no call that deletes one. */
export interface LeftBehind {
  readonly kind: Kind;
  /** Unknown where no list has shown it. */
  readonly id?: string;
  readonly name: string;
  readonly where: string;
}

export interface Examination {
  readonly account: ProbedAccount;
  readonly calls: Caller;
  /** The first look at a kind's list; made once, whoever asks. */
  list(kind: Kind): Promise<ListSeen>;
  /** Ends the examination after this probe: whatever is asked next would fail in the same way. */
  stop(why: string): void;
  /** Marks the test records of this examination. */
  readonly marker: string;
  leave(record: LeftBehind): void;
  /** What the probes that write tell each other. */
  readonly written: {
    contactId?: string;
    /** How long a write took to be seen. */
    lagMs?: number;
  };
}

/** Topics beside the gaps of the contract. */
export const TOPICS: Readonly<Record<string, string>> = {
  address: 'Does the address answer, and safely?',
  clock: 'Does the service’s clock agree with ours?',
  latency: 'How long does a call take?',
  'hidden-marker': 'Does a task’s description keep what a reader does not see?',
};

export function settingOf(account: ProbedAccount, within: string, value: Json): Setting {
  return { path: `accounts.${account.name}.${within}`, value };
}

/** Makes a finding: its gap, what was found, what the worker does about it, and what else there is to say. */
type Find = (gap: string, found: string, does: string, more?: Pick<Finding, 'about' | 'setting' | 'needs'>) => Finding;

const finder =
  (sure: Sure): Find =>
  (gap, found, does, more) => ({ gap, found, sure, does, ...more });

export const certain = finder('certain');
export const likely = finder('likely');
export const unknown = finder('unknown');

/** The finding where there is no record that would show it. */
export function nothingToSee(gap: string, about: string, does: string): Finding {
  return unknown(gap, 'no record to look at: ask again when there are some', does, { about });
}
