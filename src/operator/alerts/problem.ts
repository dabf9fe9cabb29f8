/** What alerts are about: the problems that exist now. */
import type { AlertEvent } from '../../settings/schema-alert.ts';
import type { About } from '../page-paths.ts';

export interface Problem {
  readonly event: AlertEvent;
  /** What has the problem: the name of a sync, `account acme`, `target ops-hook`. */
  readonly subject: string;
  /** Tells it from other problems of its event. Default: the subject. */
  readonly key?: string;
  /** The subject, or a part of it, in a sentence, such as `run run-261121-0200-1a2b3c of nightly-contacts`. */
  readonly what: string;
  readonly why: string;
  /** The code of the reason. A problem whose cause changes is reported again. */
  readonly cause: string;
  /** Since when it exists, if that is known. */
  readonly since: Date | undefined;
  /** Whether it may pass by itself: then it is reported only if it lasts. */
  readonly isPassing: boolean;
  /** The command to look or act, without `lockstep`. */
  readonly command: string;
  readonly sync?: string;
  readonly run?: string;
  readonly account?: string;
  readonly target?: string;
  /** How many rows of the run wait for a decision. */
  readonly inReview?: number;
  /** What else a message says. Called only if a message is sent. */
  readonly detail?: () => Promise<string>;
}

export function keyOf({ event, subject, key = subject }: Problem): string {
  return `${event}:${key}`;
}

/** What a person looks at first. */
export function aboutOf({ run, target, account, subject }: Problem): About {
  if (run !== undefined) return { kind: 'run', name: run };
  if (target !== undefined) return { kind: 'target', name: target };
  return account === undefined ? { kind: 'sync', name: subject } : { kind: 'account', name: account };
}

/** A problem that does not pass by itself. */
export function lasting(problem: Omit<Problem, 'isPassing'>): Problem {
  return { ...problem, isPassing: false };
}
