/**
 * Reports when a service stops working and when it works again, once each, and writes it to the ledger. It looks at each
 * service when it starts, and after a call has failed; until the service answers it keeps asking, so that it notices the
 * service's return without a run. A service is down if two looks in a row have failed: one may fail by chance.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { messageOf } from '../../base/errors.ts';
import { pause } from '../../base/pause.ts';
import { healthIn } from '../../client/call/guarded-client.ts';
import type { Outcome, StreamOutcome } from '../../client/call/outcome.ts';
import { noteDown, noteUp } from '../ledger/scopes/down-services.ts';
import type { Account } from './account.ts';
import { lookAtContacts } from './key-check.ts';

const TIMEOUT_MS = 3_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const FAILURES_TO_REPORT = 2;

export interface ServiceWatch {
  /** Looks at the services of these accounts once; the accounts watched before are left alone. */
  watch(accounts: readonly string[]): void;
  saw(account: string, outcome: Outcome | StreamOutcome): void;
  /** Idempotent. */
  close(): Promise<void>;
}

interface Watched {
  /** False until its first answer: an earlier process may have noted that it is down. */
  isKnown: boolean;
  /** Looks that have failed since its last answer. */
  failures: number;
  /** Since when it is down, in milliseconds since 1970. */
  downSinceMs: number | undefined;
  probing: Promise<void> | undefined;
}

export function watchServices(needs: {
  readonly pool: pg.Pool;
  readonly open: (account: string) => Promise<Account>;
  readonly log: Logger;
}): ServiceWatch {
  const { pool, open, log } = needs;
  const closing = new AbortController();
  const { signal } = closing;
  const watched = new Map<string, Watched>();
  let notes = Promise.resolve();

  function saw(account: string, outcome: Outcome | StreamOutcome): void {
    const state = watched.get(account);
    const health = healthIn(outcome);
    if (state === undefined || health === undefined || signal.aborted) return;
    if (health === 'fails') {
      probeSoon(account, state);
      return;
    }
    const { isKnown, downSinceMs } = state;
    if (downSinceMs !== undefined) log.info({ account, downMs: Date.now() - downSinceMs }, 'the service works again');
    if (downSinceMs !== undefined || !isKnown) note(() => noteUp(pool, account));
    Object.assign(state, { isKnown: true, failures: 0, downSinceMs: undefined });
  }

  /** Notes one after another. If one fails, the next probe repeats it, or the earlier note expires. */
  function note(write: () => Promise<void>): void {
    notes = notes.then(write).catch((error: unknown) => {
      log.warn({ err: error }, 'the state of a service could not be noted');
    });
  }

  function probeSoon(account: string, state: Watched): void {
    state.probing ??= probeUntilUp(account, state).finally(() => {
      state.probing = undefined;
    });
  }

  async function probeUntilUp(account: string, state: Watched): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const failure = await probe(account);
      if (failure === undefined || signal.aborted) return;
      if (++state.failures >= FAILURES_TO_REPORT) report(account, state, failure);
      await pause(pauseMs, signal);
    }
  }

  function report(account: string, state: Watched, failure: string): void {
    note(() => noteDown(pool, account, failure));
    if (state.downSinceMs !== undefined) return;
    state.downSinceMs = Date.now();
    const words = `the service does not work: ${failure}. The runs of the account wait, and resume by themselves`;
    log.warn({ account }, words);
  }

  /** What is wrong with the service; undefined if it answers, or if that cannot be found out now. */
  async function probe(name: string): Promise<string | undefined> {
    try {
      const { client, dialect } = await open(name);
      const options = { lane: 'interactive', timeoutMs: TIMEOUT_MS, maxWaitMs: TIMEOUT_MS, signal } as const;
      const outcome = await lookAtContacts(client, dialect, options);
      saw(name, outcome);
      return healthIn(outcome) === 'fails' && 'message' in outcome ? outcome.message : undefined;
    } catch (error) {
      log.warn({ account: name }, `the account cannot be used: ${messageOf(error)}`);
      return undefined;
    }
  }

  return {
    watch(accounts) {
      for (const name of accounts) {
        if (watched.has(name)) continue;
        const state: Watched = { isKnown: false, failures: 0, downSinceMs: undefined, probing: undefined };
        watched.set(name, state);
        probeSoon(name, state);
      }
    },
    saw,
    async close() {
      closing.abort();
      await Promise.all([...watched.values()].map(({ probing }) => probing));
      await notes;
    },
  };
}
