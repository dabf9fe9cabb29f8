/**
 * The doctor's terms. An *examination* of an account's service is a series of *probes*; each answers one or more gaps of the
 * contract with *findings*. A probe is one file in probes/, and it uses only what the examination gives it.
 */
import type { Json } from '../../client/call/json.ts';
import type { GapId } from '../../contract/gaps.ts';
import type { Kind, WholeKind } from '../../contract/kinds.ts';
import type { Caller } from './caller.ts';
import type { ListSeen } from './lists.ts';
import type { ProbedAccount } from './probed-account.ts';

/** `certain`: observed. `likely`: the observations allow another explanation. `unknown`: nothing was observed. */
export type Confidence = 'certain' | 'likely' | 'unknown';

export interface Setting {
  /** Such as `accounts.demo.dialect.firstTaskPage`. */
  readonly path: string;
  readonly value: Json;
}

export interface Finding {
  readonly gap: GapId | Topic;
  /** What the finding is about, usually a kind of records. */
  readonly about?: string;
  readonly found: string;
  readonly confidence: Confidence;
  /** What the worker does about it. */
  readonly does: string;
  /** The setting for this finding; it may be saved if the finding is certain. */
  readonly setting?: Setting;
  /** What the operator has to do or decide. */
  readonly needs?: string;
  /** The list that the service certainly cuts off: runs treat it as incomplete. */
  readonly cutsOff?: WholeKind;
}

export interface Probe {
  /** For the progress line: "examining …". */
  readonly name: string;
  /** The gaps it answers, if there are records to examine. */
  readonly gaps: readonly Finding['gap'][];
  run(exam: Examination): Promise<readonly Finding[]>;
}

/** A test record that remains, because the contract has no delete operation. */
export interface LeftBehind {
  readonly kind: Kind;
  /** Undefined if no list has shown it. */
  readonly id?: string;
  readonly name: string;
  readonly where: string;
}

export interface Examination {
  readonly account: ProbedAccount;
  readonly calls: Caller;
  /** The first read of a list; cached for all probes. */
  list(kind: Kind): Promise<ListSeen>;
  /** Ends the examination after this probe. Used if every later call would fail in the same way. */
  stop(why: string): void;
  /** Marks the test records of this examination. */
  readonly marker: string;
  leave(record: LeftBehind): void;
  /** What the writing probes pass on to each other. */
  readonly written: {
    contactId?: string;
    /** How long it took until a read showed the write. */
    lagMs?: number;
  };
}

/** What the doctor examines beside the gaps of the contract. */
export const TOPICS = {
  address: 'Does the service answer at the address, and is the connection safe?',
  clock: 'Does the service’s clock match this machine’s clock?',
  latency: 'How long does a call take?',
  caches: 'Does a cache answer calls?',
  'hidden-marker': 'Does a task’s description keep text that a reader does not see?',
};
type Topic = keyof typeof TOPICS;

export function settingOf(account: ProbedAccount, within: string, value: Json): Setting {
  return { path: `accounts.${account.name}.${within}`, value };
}

/** Makes a finding from its gap, what was found, what the worker does about it, and optional members. */
type Find = (
  gap: Finding['gap'],
  found: string,
  does: string,
  more?: Pick<Finding, 'about' | 'setting' | 'needs' | 'cutsOff'>,
) => Finding;

const finder =
  (confidence: Confidence): Find =>
  (gap, found, does, more) => ({ gap, found, confidence, does, ...more });

export const certain = finder('certain');
export const likely = finder('likely');
export const unknown = finder('unknown');

/** The finding if there is no record to examine. */
export function nothingToSee(gap: Finding['gap'], about: string, does: string): Finding {
  return unknown(gap, 'no record to examine: run the doctor again when there are records', does, { about });
}
