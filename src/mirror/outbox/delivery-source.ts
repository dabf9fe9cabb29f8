/**
 * The deliveries to one target as a source for a dispatcher. Targets share only the database, so a target that is down does
 * not slow down the others.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { LockstepError, messageOf } from '../../base/errors.ts';
import type { WorkerIdentity } from '../../base/process-identity.ts';
import { type Breaker, createBreaker } from '../../client/call/breaker.ts';
import type { CallContext, Delivery, DeliveryOutcome, ItemState, Overwriting, Target } from '../../contract/target.ts';
import type { Clock } from '../../engine/dispatch/clock.ts';
import type { Recorded, SendHow, Sent, Source } from '../../engine/dispatch/source.ts';
import { extendClaim } from '../../engine/ledger/claims.ts';
import { describeDatabaseError } from '../../storage/errors.ts';
import { keepItemLinks } from '../links/item-links.ts';
import { createLinker, type Linker } from '../links/link-by-text.ts';
import { type Claimed, claimDue, type DeliveryClaim, dropOutboxClaims, type Runs, takeOutboxClaim } from './claims.ts';
import { type Outcome, writeOutcomes } from './outcomes.ts';
import { plainAnswer, plainText } from './plain-text.ts';
import { type Decision, decideDelivery } from './retry-policy.ts';
import { blockTarget, disableTarget, noteAnswering, noteFailing, standingOf } from './target-states.ts';

export const TTL_MS = 30_000;
const LONGEST_PAUSE_MS = 60_000;
/** How often the ledger is read for what other processes have recorded about the target. */
const STANDING_MS = 500;
/** After this many attempts, which take five minutes, a failure is not by chance. */
const LASTING_ATTEMPTS = 3;

export interface DeliverySourceNeeds {
  readonly pool: pg.Pool;
  readonly worker: WorkerIdentity;
  readonly clock: Clock;
  readonly log: Logger;
  readonly target: string;
  readonly open: () => Promise<Target>;
  /** In [0, 1). */
  readonly random: () => number;
  /** Only deliveries of these runs; default: of all runs. */
  readonly runs?: () => Runs;
  readonly onAttempt?: OnAttempt | undefined;
  /** Default: every delivery may write its state. */
  readonly mayOverwrite?: MayOverwrite | undefined;
}

/** Whether a delivery that has found its item in this other state may write its own. */
export type MayOverwrite = (target: string, sync: string, delivery: Delivery, item: ItemState) => Promise<Overwriting>;

/** Called after each attempt. `lagMs`: how long ago the change was seen. */
export type OnAttempt = (target: string, decision: Decision, lagMs: number) => void;

/** The outcome of one claimed delivery, and what it says about the target. */
export interface Attempt {
  readonly claimed: Claimed;
  readonly outcome: Outcome;
  /** The outside item that it reached. */
  readonly itemId?: string | undefined;
  /** Undefined if the target was not called, or its failure may be chance. */
  readonly health?: { readonly status: 'answers' } | { readonly status: 'fails'; readonly detail: string } | undefined;
}

export class DeliverySource implements Source<DeliveryClaim, Claimed, Attempt> {
  readonly #needs: DeliverySourceNeeds;
  readonly #breaker: Breaker = createBreaker();
  readonly #linker: Linker;
  #target: Target | undefined;
  #openFailures = 0;
  #openAtMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Statements of the target that the ledger does not have yet. */
  #isDisabled = false;
  #askAgainAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the ledger may record this for all processes. */
  #isFailing = true;

  constructor(needs: DeliverySourceNeeds) {
    this.#needs = needs;
    this.#linker = createLinker({ db: needs.pool, target: needs.target });
  }

  async takeClaim(): Promise<DeliveryClaim | undefined> {
    const { pool, target, worker, clock } = this.#needs;
    if (!(await this.#isOpened())) return undefined;
    return takeOutboxClaim(pool, target, { worker, ttlMs: TTL_MS, now: clock.ledgerNow() });
  }

  renew(claim: DeliveryClaim): Promise<boolean> {
    const { pool, clock } = this.#needs;
    return extendClaim(pool, 'ledger.delivery_claims', { id: claim.id, ttlMs: TTL_MS, now: clock.ledgerNow() });
  }

  claim(claim: DeliveryClaim, limit: number): Promise<readonly Claimed[]> {
    const { pool, clock, runs } = this.#needs;
    return claimDue(pool, claim, { limit, now: clock.ledgerNow(), runs: runs?.() });
  }

  admit() {
    const nowMs = this.#needs.clock.nowMs();
    if (this.#isDisabled) return { status: 'wait', forMs: STANDING_MS } as const;
    if (this.#heldUntilMs > nowMs) return { status: 'wait', forMs: this.#heldUntilMs - nowMs } as const;
    return this.#breaker.admit(nowMs);
  }

  async send(claimed: Claimed, { signal, isHeld, mayDispatch }: SendHow): Promise<Sent<Attempt, never>> {
    const outcome = await this.#deliver(claimed, { signal, mayDispatch });
    if (!isHeld()) return {}; // it was aborted, which says nothing about the target
    const { answer } = outcome;
    const { target, random, onAttempt } = this.#needs;
    const decision = plain(decideDelivery(outcome, { attempts: claimed.attempts, random: random() }));
    onAttempt?.(target, decision, Date.now() - claimed.delivery.seenAt.getTime());
    this.#logLasting(claimed, decision);
    const attempt: Attempt = {
      claimed,
      outcome: {
        id: claimed.delivery.id,
        decision,
        answer: answer && plainAnswer(answer),
        isUnclear: outcome.status === 'later' && outcome.isUnclear,
      },
      itemId: 'itemId' in outcome ? outcome.itemId : undefined,
      health: this.#heed(decision, outcome),
    };
    return { outcome: attempt };
  }

  unsent(claimed: Claimed): Attempt {
    return { claimed, outcome: { id: claimed.delivery.id, decision: { status: 'unsent' } } };
  }

  async record(claim: DeliveryClaim, attempts: readonly Attempt[]): Promise<Recorded<Attempt>> {
    const { pool, target, clock } = this.#needs;
    const now = clock.ledgerNow();
    const decisions = attempts.map(({ outcome }) => outcome.decision);
    await this.#tellState(attempts, now); // first, so that every later claim sees it
    const links = attempts.filter(({ itemId, claimed }) => itemId !== undefined && itemId !== claimed.delivery.itemId);
    await keepItemLinks(pool, target, links.map(toLink));
    const outcomes = attempts.map(({ outcome }) => outcome);
    const written = await writeOutcomes(pool, claim, outcomes, now);
    const isDisabled = decisions.some(({ status }) => status === 'disabled');
    // A claim that began before the ledger had it returns deliveries: they are released, not sent.
    if (isDisabled || clock.nowMs() >= this.#askAgainAtMs) await this.#askStanding(now);
    if (isDisabled) this.#isDisabled = false;
    if (written.status === 'claim-lost') return { status: 'lost' };
    return { status: 'recorded', left: attempts.filter(({ outcome }) => written.left.has(outcome.id)) };
  }

  drop(claim: DeliveryClaim): Promise<void> {
    const { pool, clock } = this.#needs;
    return dropOutboxClaims(pool, [claim.id], clock.ledgerNow());
  }

  async close(): Promise<void> {
    await this.#target?.close();
  }

  async #isOpened(): Promise<boolean> {
    const { clock, log, target, open } = this.#needs;
    if (this.#target) return true;
    if (clock.nowMs() < this.#openAtMs) return false;
    try {
      this.#target = await open();
      if (this.#openFailures > 0) await this.#noteAnswering();
      return true;
    } catch (error) {
      if (!(error instanceof LockstepError)) log.error({ err: error, target }, 'a target could not be opened');
      this.#openAtMs = clock.nowMs() + Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** this.#openFailures++);
      await this.#noteFailing(plainText(messageOf(error)), clock.ledgerNow());
      return false;
    }
  }

  async #deliver({ delivery, sync, claimId, runId }: Claimed, context: CallContext): Promise<DeliveryOutcome> {
    const { log, target, mayOverwrite: overwrites } = this.#needs;
    const mayOverwrite = overwrites && ((item: ItemState) => overwrites(target, sync, delivery, item));
    try {
      if (this.#target === undefined) throw new Error('unreachable: there is no claim before the target is open');
      return await this.#linker(this.#target, delivery, { ...context, mayOverwrite, claimId, runId });
    } catch (error) {
      log.error({ err: error, target, delivery: delivery.id }, 'a delivery was interrupted by an error');
      const lost = describeDatabaseError(error, 'the database', false);
      // The call may have left before the database was lost.
      if (lost) return { status: 'later', reason: 'ABORTED', detail: plainText(lost.message), isUnclear: true };
      return { status: 'later', reason: 'BROKE_OFF', detail: 'a defect in Lockstep: see the log of the worker' };
    }
  }

  /** Reads what other processes have recorded. Deliveries claimed ahead are released if they cannot be sent. */
  async #askStanding(now: Date | undefined): Promise<void> {
    const { pool, target, clock } = this.#needs;
    const standing = await standingOf(pool, target, now);
    const nowMs = clock.nowMs();
    this.#askAgainAtMs = nowMs + STANDING_MS;
    this.#isFailing = standing.isFailing;
    const heldForMs = standing.isDisabled ? STANDING_MS : standing.blockedForMs;
    this.#heldUntilMs = Math.max(this.#heldUntilMs, nowMs + heldForMs);
  }

  /** Applies what an outcome says about the target at once, before the ledger has it for the other processes. */
  #heed(decision: Decision, outcome: DeliveryOutcome): Attempt['health'] {
    const nowMs = this.#needs.clock.nowMs();
    // A server that says when it will be back is away, which is not by chance.
    const isAway = decision.status === 'limited' && decision.reason === 'SERVER_ERROR';
    const hasFailed = outcome.status === 'later' && (isAway || !outcome.isLimited);
    this.#breaker.saw(hasFailed ? 'fails' : 'answers', nowMs);
    if (decision.status === 'limited') this.#heldUntilMs = Math.max(this.#heldUntilMs, nowMs + decision.afterMs);
    if (decision.status === 'disabled') this.#isDisabled = true;
    if (!hasFailed) return { status: 'answers' };
    if (!isAway && !this.#breaker.isOpen()) return undefined;
    return { status: 'fails', detail: plainText(outcome.detail ?? '') };
  }

  /** Logs a delivery once that keeps failing although the target takes others, and once that it is given up. */
  #logLasting({ delivery: { id }, attempts }: Claimed, decision: Decision): void {
    const { log, target } = this.#needs;
    const { status, detail } = decision;
    if (status === 'ended' && decision.verdict === 'dead')
      log.warn({ target, delivery: id }, `a delivery is a dead letter: ${detail}`);
    const isLasting = status === 'again' && attempts + 1 === LASTING_ATTEMPTS && !this.#breaker.isOpen();
    if (isLasting) log.warn({ target, delivery: id }, `a delivery keeps failing and is retried: ${detail}`);
  }

  /** What a batch says about the target: the last statement of each kind. */
  async #tellState(batch: readonly Attempt[], now: Date | undefined): Promise<void> {
    const { pool, target, log } = this.#needs;
    const decisions = batch.map(({ outcome }) => outcome.decision);
    const forMs = Math.max(0, ...decisions.map((one) => (one.status === 'limited' ? one.afterMs : 0)));
    if (forMs > 0) await blockTarget(pool, target, { forMs, now });
    const disabled = decisions.find((one) => one.status === 'disabled');
    if (disabled) {
      const { reason = 'DISABLED', detail = '' } = disabled;
      const isNew = await disableTarget(pool, target, { reason, detail, now });
      if (isNew) log.warn({ target, reason }, `target disabled: ${detail}`);
    }
    const health = batch.findLast((attempt) => attempt.health !== undefined)?.health;
    if (health?.status === 'fails') {
      this.#isFailing = true;
      await this.#noteFailing(health.detail, now);
    }
    if (health?.status === 'answers' && this.#isFailing) await this.#noteAnswering();
  }

  /** Of all processes, the one that finds a change of state logs it. */
  async #noteFailing(detail: string, now: Date | undefined): Promise<void> {
    const { pool, target, log } = this.#needs;
    if (await noteFailing(pool, target, { detail, now })) log.warn({ target }, `target is failing: ${detail}`);
  }

  async #noteAnswering(): Promise<void> {
    const { pool, target, log } = this.#needs;
    if (await noteAnswering(pool, target)) log.info({ target }, 'target answers again');
  }
}

function plain(decision: Decision): Decision {
  return {
    ...decision,
    ...(decision.reason !== undefined && { reason: plainText(decision.reason) }),
    ...(decision.detail !== undefined && { detail: plainText(decision.detail) }),
  };
}

function toLink({ claimed: { delivery, runId }, itemId = '' }: Attempt) {
  return { scope: delivery.account, task: delivery.task, itemId, runId, formerId: delivery.itemId };
}
