/**
 * The way to one target: claims what is due a little ahead, sends it at the target's concurrency, and writes the outcomes
 * in batches. Targets share nothing but the database, so that one which is down costs the others nothing.
 */
import { LockstepError, messageOf } from '../errors.ts';
import { createLinker } from '../links/link-by-text.ts';
import type { DeliveryOutcome, Target } from '../targets/target.ts';
import { createBreaker } from './breaker.ts';
import { type Claimed, claimDue, type DeliveryClaim, type Runs } from './claims.ts';
import { createBell } from './clock.ts';
import { createLease, type LeaseNeeds } from './lease.ts';
import { createOutcomeWriter, type Sent } from './outcome-writer.ts';
import { plainAnswer, plainText } from './plain-text.ts';
import { type Decision, decide } from './schedule.ts';
import { noteAnswering, noteFailing } from './target-states.ts';

/** How often an idle route looks for what is due. */
const POLL_MS = 500;
/** Claimed ahead at most: what one process holds, another one cannot send. */
const MOST_AHEAD = 200;
/** So many calls' worth is always claimed ahead. */
const LEAST_AHEAD = 2;
/** A portion that is sent in less than this becomes larger, and one that takes more than four times of it smaller. */
const QUICK_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

export interface RouteNeeds extends LeaseNeeds {
  readonly target: string;
  readonly concurrency: number;
  readonly open: () => Promise<Target>;
  readonly random: () => number;
  /** Whose deliveries it sends; default: those of every run. */
  readonly runs?: () => Runs;
}

export interface Route {
  /** There may be something to send. */
  poke(): void;
  /** Finishes what is under way, gives back the rest, then stops. */
  close(): Promise<void>;
}

export function startRoute(needs: RouteNeeds): Route {
  const { pool, clock, log, target: name, concurrency } = needs;
  const bell = createBell(clock);
  const lease = createLease(name, needs);
  const breaker = createBreaker();
  const linker = createLinker({ db: pool, target: name });
  const ahead: { readonly claimed: Claimed; readonly claim: DeliveryClaim }[] = [];
  const underWay = new Set<Promise<void>>();
  let portion = LEAST_AHEAD * concurrency;
  let lastClaimAtMs = Number.NEGATIVE_INFINITY;
  let heldUntilMs = 0;
  /** Said by a target, and not yet written. */
  let isDisabled = false;
  /** Nothing more was due at the last look. */
  let isDry = true;
  let batches = 0;
  let isClosing = false;
  let target: Target | undefined;
  let openFailures = 0;

  const writer = createOutcomeWriter({
    ...needs,
    onLost: lease.lose,
    onWritten: (batch, standing) => {
      batches++;
      if (batch.some(({ outcome }) => outcome.decision.status === 'disabled')) isDisabled = false; // the claims know it
      heldUntilMs = Math.max(heldUntilMs, clock.nowMs() + standing.blockedForMs);
      if (standing.isDisabled || standing.blockedForMs > 0) giveBackAhead();
      if (isDry) bell.ring(); // what came after one that has ended may go now
    },
  });

  function giveBackAhead(): void {
    for (const { claimed, claim } of ahead.splice(0)) {
      writer.write({ claim, claimed, outcome: { id: claimed.delivery.id, decision: { status: 'unsent' } } });
    }
  }

  function dispatch(opened: Target): void {
    while (underWay.size < concurrency) {
      const next = ahead.shift();
      if (!next) break;
      if (!lease.isHeld(next.claim)) continue; // it runs out, or is somebody else's already
      const sending = send(opened, next).finally(() => {
        underWay.delete(sending);
        dispatch(opened);
        if (!isDry && ahead.length <= portion / 2) bell.ring();
      });
      underWay.add(sending);
    }
  }

  async function send(opened: Target, { claimed, claim }: (typeof ahead)[number]): Promise<void> {
    const call = lease.begin();
    const outcome = await deliver(opened, claimed, call.signal);
    call.over();
    if (!lease.isHeld(claim)) return; // its outcome is fenced off, and that it was broken off tells nothing of the target
    const { answer } = outcome;
    const decision = plain(decide(outcome, { attempts: claimed.attempts, random: needs.random() }));
    const health = heed(decision, outcome);
    writer.write({
      claim,
      claimed,
      outcome: { id: claimed.delivery.id, decision, answer: answer && plainAnswer(answer) },
      ...('itemId' in outcome && { itemId: outcome.itemId }),
      ...(health && { health }),
    });
  }

  async function deliver(opened: Target, { delivery, runId }: Claimed, signal: AbortSignal): Promise<DeliveryOutcome> {
    try {
      return await linker.deliver(opened, delivery, { signal, runId });
    } catch (error) {
      log.error({ err: error, target: name, delivery: delivery.id }, 'a delivery broke off');
      return { status: 'later', reason: 'BROKE_OFF', detail: 'a defect in Lockstep: the log of the worker says where' };
    }
  }

  /** What an outcome says about the target holds at once, before the ledger tells the others. */
  function heed(decision: Decision, outcome: DeliveryOutcome): Sent['health'] {
    const nowMs = clock.nowMs();
    const hasFailed = outcome.status === 'later' && !outcome.isLimited;
    breaker.saw(hasFailed ? 'fails' : 'answers', nowMs);
    if (decision.status === 'limited') heldUntilMs = Math.max(heldUntilMs, nowMs + decision.afterMs);
    if (decision.status === 'disabled') isDisabled = true;
    if (isHeldBack()) giveBackAhead();
    if (!hasFailed) return { status: 'answers' };
    return breaker.isOpen() ? { status: 'fails', detail: decision.detail ?? '' } : undefined;
  }

  function isHeldBack(): boolean {
    return heldUntilMs > clock.nowMs() || isDisabled || breaker.isOpen();
  }

  /** Claims once, where there is room and nothing holds the target back; waits a little otherwise. */
  async function round(): Promise<void> {
    const opened = await openTarget();
    if (!opened) return;
    const nowMs = clock.nowMs();
    const admitted = breaker.admit(nowMs);
    const heldForMs = Math.max(heldUntilMs - nowMs, admitted.status === 'wait' ? admitted.forMs : 0);
    if (heldForMs > 0 || isDisabled) return bell.wait(isDisabled ? POLL_MS : Math.min(heldForMs, POLL_MS));
    const isProbing = admitted.status === 'probe';
    if (isProbing && underWay.size + ahead.length > 0) return bell.wait(POLL_MS);
    const room = isProbing ? 1 : portion - ahead.length;
    if (room < portion / 2 && !isProbing) return bell.wait(POLL_MS);
    const claim = await lease.hold();
    isDry = false;
    const batchesBefore = batches;
    const claimed = await claimDue(pool, claim, { limit: room, now: clock.ledgerNow(), runs: needs.runs?.() });
    ahead.push(...claimed.map((one) => ({ claimed: one, claim })));
    if (isClosing) return;
    if (!isProbing && isHeldBack()) return giveBackAhead(); // by what came in while it claimed
    dispatch(opened);
    if (claimed.length === room) return adapt(nowMs);
    // What was written while it looked may have freed what it did not see: then it looks once more.
    isDry = batches === batchesBefore;
    if (isDry) await bell.wait(POLL_MS);
  }

  /** Large portions for a quick target, small ones for a slow one: what is claimed ahead is sent within a second or two. */
  function adapt(nowMs: number): void {
    const tookMs = nowMs - lastClaimAtMs;
    lastClaimAtMs = nowMs;
    const least = LEAST_AHEAD * concurrency;
    if (tookMs < QUICK_MS) portion = Math.max(least, Math.min(MOST_AHEAD, portion * 2));
    else if (tookMs > 4 * QUICK_MS) portion = Math.max(least, Math.floor(portion / 2));
  }

  async function openTarget(): Promise<Target | undefined> {
    if (target) return target;
    try {
      target = await needs.open();
      if (openFailures > 0) await noteAnswering(pool, name);
      return target;
    } catch (error) {
      if (!(error instanceof LockstepError)) log.error({ err: error, target: name }, 'a target could not be opened');
      await noteFailing(pool, name, { detail: plainText(messageOf(error)), now: clock.ledgerNow() });
      await bell.wait(Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** openFailures++));
      return undefined;
    }
  }

  async function run(): Promise<void> {
    while (!isClosing) {
      try {
        await round();
      } catch (error) {
        log.warn({ err: error, target: name }, 'deliveries could not be claimed');
        await bell.wait(POLL_MS);
      }
    }
  }

  const running = run();
  let closed: Promise<void> | undefined;
  return {
    poke: bell.ring,
    close() {
      closed ??= (async () => {
        isClosing = true;
        bell.ring();
        giveBackAhead();
        await running;
        giveBackAhead();
        while (underWay.size > 0) await Promise.all(underWay);
        try {
          await writer.close();
          await lease.close();
        } finally {
          await target?.close();
        }
      })();
      return closed;
    },
  };
}

function plain(decision: Decision): Decision {
  return {
    ...decision,
    ...(decision.reason !== undefined && { reason: plainText(decision.reason) }),
    ...(decision.detail !== undefined && { detail: plainText(decision.detail) }),
  };
}
