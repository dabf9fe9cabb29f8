/** Collects what became of deliveries to one target and writes it in batches, with what it says about the target. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { keepItemLinks } from '../links/item-links.ts';
import type { Claimed, DeliveryClaim } from './claims.ts';
import { type Clock, createBell } from './clock.ts';
import { type Outcome, writeOutcomes } from './outcomes.ts';
import { blockTarget, disableTarget, noteAnswering, noteFailing, type Standing, standingOf } from './target-states.ts';

/** What comes in within this time is written together. */
const GATHER_MS = 50;
const TRY_AGAIN_MS = 500;
/** It is woken when there is something. */
const IDLE_MS = 60 * 60 * 1000;
/** A database that stays away ends the claims as well: others send again what cannot be written. */
const TRIES_AT_CLOSE = 5;

export interface Sent {
  readonly claim: DeliveryClaim;
  readonly claimed: Claimed;
  readonly outcome: Outcome;
  /** The outside item that it came to. */
  readonly itemId?: string | undefined;
  /** What the target has shown with it; undefined where it was not asked. */
  readonly health?: { readonly status: 'answers' } | { readonly status: 'fails'; readonly detail: string };
}

export interface OutcomeWriter {
  write(sent: Sent): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface OutcomeWriterNeeds {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly target: string;
  /** The claim was taken over. */
  readonly onLost: () => void;
  /** Told after each batch how the target stands, for all processes. */
  readonly onWritten: (batch: readonly Sent[], standing: Standing) => void;
}

export function createOutcomeWriter(needs: OutcomeWriterNeeds): OutcomeWriter {
  const { pool, clock, log, target } = needs;
  const bell = createBell(clock);
  const never = new AbortController().signal;
  let gathered: Sent[] = [];
  let isClosing = false;

  /** Answers how many could not be written yet. */
  async function writeBatch(): Promise<number> {
    const batch = gathered.splice(0);
    const now = clock.ledgerNow();
    const left: Sent[] = [];
    try {
      await tellState(batch, now); // first: who claims from here on knows it
      for (const [claim, sents] of byClaim(batch)) {
        const links = sents.filter(({ itemId, claimed }) => itemId !== undefined && itemId !== claimed.delivery.itemId);
        await keepItemLinks(pool, target, links.map(toLink));
        const written = await writeOutcomes(
          pool,
          claim,
          sents.map(({ outcome }) => outcome),
          now,
        );
        if (written.status === 'claim-lost') needs.onLost();
        else left.push(...sents.filter(({ outcome }) => written.left.has(outcome.id)));
      }
    } catch (error) {
      gathered = [...batch, ...gathered]; // writing one twice does no harm
      throw error;
    }
    gathered = [...left, ...gathered];
    needs.onWritten(batch, await standingOf(pool, target, now));
    return left.length;
  }

  /** What a batch says about the target, the last word of each kind. */
  async function tellState(batch: readonly Sent[], now: Date | undefined): Promise<void> {
    const decisions = batch.map(({ outcome }) => outcome.decision);
    const forMs = Math.max(0, ...decisions.map((one) => (one.status === 'limited' ? one.afterMs : 0)));
    if (forMs > 0) await blockTarget(pool, target, { forMs, now });
    const disabled = decisions.find((one) => one.status === 'disabled');
    if (disabled) {
      const { reason = 'DISABLED', detail = '' } = disabled;
      await disableTarget(pool, target, { reason, detail, now });
    }
    const health = batch.findLast((sent) => sent.health !== undefined)?.health;
    if (health?.status === 'fails') await noteFailing(pool, target, { detail: health.detail, now });
    if (health?.status === 'answers') await noteAnswering(pool, target);
  }

  async function run(): Promise<void> {
    let failures = 0;
    let left = 0;
    while (!isClosing || (gathered.length > 0 && failures < TRIES_AT_CLOSE)) {
      if (gathered.length === 0) await bell.wait(IDLE_MS);
      if (gathered.length === 0) continue;
      if (!isClosing || left > 0) await clock.wait(GATHER_MS, never);
      try {
        left = await writeBatch();
        failures = left > 0 ? failures + 1 : 0;
      } catch (error) {
        failures++;
        log.warn({ err: error, target }, 'outcomes of deliveries could not be written');
        await clock.wait(TRY_AGAIN_MS, never);
      }
    }
  }

  const running = run();
  return {
    write(sent) {
      gathered.push(sent);
      if (gathered.length === 1) bell.ring();
    },
    async close() {
      isClosing = true;
      bell.ring();
      await running;
    },
  };
}

function byClaim(batch: readonly Sent[]): ReadonlyMap<DeliveryClaim, readonly Sent[]> {
  const groups = new Map<DeliveryClaim, Sent[]>();
  for (const sent of batch) {
    const group = groups.get(sent.claim);
    if (group) group.push(sent);
    else groups.set(sent.claim, [sent]);
  }
  return groups;
}

function toLink({ claimed: { delivery, runId }, itemId = '' }: Sent) {
  return { scope: delivery.account, task: delivery.task, itemId, runId };
}
