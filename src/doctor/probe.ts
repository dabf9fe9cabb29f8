/**
 * The doctor's terms. An *examination* of an account's service is a series of *probes*; each answers one or more gaps of the
 * contract with *findings*. A probe is one file in probes/, and it uses only what the examination gives it.
 */
import type { Kind } from '../client/call/dialect.ts';
import type { Json } from '../client/call/json.ts';
import type { Caller } from './caller.ts';
import type { ListSeen } from './lists.ts';
import type { ProbedAccount } from './probed-account.ts';

/** `certain`: observed. `likely`: the observations allow another explanation. `unknown`: nothing was observed. */
export type Sure = 'certain' | 'likely' | 'unknown';

export interface Setting {
  /** Such as `accounts.demo.dialect.firstTaskPage`. */
  readonly path: string;
  readonly value: Json;
}

export interface Finding {
  /** The gap's id in src/contract/gaps.ts, or one of the doctor's own topics. */
  readonly gap: string;
  /** What the finding is about, usually a kind of records. */
  readonly about?: string;
  readonly found: string;
  readonly sure: Sure;
  /** What the worker does about it. */
  readonly does: string;
  /** The setting for this finding; it may be saved if the finding is certain. */
  readonly setting?: Setting;
  /** What a person has to do or decide. */
  readonly needs?: string;
}

export interface Probe {
  /** For the progress line: "examining …". */
  readonly name: string;
  /** The gaps it answers, where it is given something to look at. */
  readonly gaps: readonly string[];
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
  /** The first read of a list; cached, so that all probes share it. */
  list(kind: Kind): Promise<ListSeen>;
  /** Ends the examination after this probe, because every later call would fail in the same way. */
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

/** The finding if there is no record to examine. */
export function nothingToSee(gap: string, about: string, does: string): Finding {
  return unknown(gap, 'no record to examine: run the doctor again when there are some', does, { about });
}
