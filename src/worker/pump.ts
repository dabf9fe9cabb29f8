/**
 * The pump: claims ready rows, sends them, and writes what became of them, with as many in flight as the account allows.
 * It holds one claim, renewed while it works; nothing is dispatched so late that its answer could come after the claim.
 */
import type pg from 'pg';
import { inTransaction } from '../database/transaction.ts';
import { type Claim, claimTtlMs, dropClaims, renewClaim, takeClaim } from '../engine/ledger/claims.ts';
import { type Attempt, type ClaimedRow, claimRows, recordAttempts } from '../engine/ledger/rows.ts';
import { recordProgress } from '../engine/ledger/runs.ts';
import type { JobContext } from './job.ts';
import { LIMITED_IN_A_ROW, nothingButLimited } from './reads.ts';
import { ComeBack, RunFailed, type Stop } from './trouble.ts';

/** How one claimed row is sent; `dispatchBefore` is on the `elapsedMs` scale. */
export type SendRow = (row: ClaimedRow, how: { dispatchBefore: number; stopWaiting: AbortSignal }) => Promise<SentRow>;

/** A row's result, and what it says about the run as a whole. */
export interface SentRow {
  readonly result: Attempt;
  /** Calls that were made for it, and those among them that were answered with "slow down". */
  readonly calls: number;
  readonly limited: number;
  /** Stops this pump: the run has failed, or goes on later. */
  readonly stop?: Stop;
}

export type Pumped =
  /** No row was ready. */
  | { readonly status: 'dry' }
  /** Its time slice is over, rows may remain. */
  | { readonly status: 'more' }
  | { readonly status: 'stopped'; readonly cause: Stop };

/** After about this long a pump gives its slot to other runs; not all pumps of a run at once. */
const SLICE_MS = 20_000;
const SPREAD = 0.25;
const FLUSH_MS = 200;
/** Between the last moment an answer may arrive and the end of the claim. */
const GUARD_MS = 2_000;
const MAX_CHUNK = 400;
/** Outcomes kept in memory at most: a ledger that is slow slows the sending down. */
const MOST_UNWRITTEN = 5_000;

export async function pump(context: JobContext<unknown>, send: SendRow): Promise<Pumped> {
  const claim = await takeClaim(context.pool, context.run.id, context.worker, {
    kind: 'shared',
    ttlMs: claimTtlMs(context.account.timeoutMs),
  });
  if (!claim) return { status: 'dry' };
  const work = new PumpWork(context, claim, send);
  try {
    return await work.run();
  } finally {
    await work.close();
  }
}

class PumpWork {
  readonly #context: JobContext<unknown>;
  readonly #pool: pg.Pool;
  readonly #send: SendRow;
  readonly #chunk: number;
  #claim: Claim;
  #buffer: ClaimedRow[] = [];
  #results: Attempt[] = [];
  #stop: Stop | undefined;
  #inFlight = new Set<Promise<void>>();
  #onBack: (() => void) | undefined;
  #claiming: Promise<void> | undefined;
  #beingWritten = 0;
  #writing: Promise<void> = Promise.resolve();
  #calls = 0;
  #limited = 0;
  #limitedInARow = 0;
  #isDry = false;
  /** Rows were sent in vain and are ready again, perhaps not written yet. */
  #gaveBack = false;
  #isLost = false;

  constructor(context: JobContext<unknown>, claim: Claim, send: SendRow) {
    this.#context = context;
    this.#pool = context.pool;
    this.#claim = claim;
    this.#send = send;
    // As many as the budget lets through in two seconds: a slow key does not hold rows it cannot send.
    this.#chunk = Math.max(1, Math.min(MAX_CHUNK, Math.ceil(context.account.ratePerSecond * 2)));
  }

  async run(): Promise<Pumped> {
    const sliceEnd = performance.now() + SLICE_MS * (1 + SPREAD * (2 * Math.random() - 1));
    const renewing = setInterval(() => void this.#renew(), this.#claim.ttlMs / 3);
    const flushing = setInterval(() => this.#flush(), FLUSH_MS);
    try {
      while (!this.#hasToStop() && performance.now() < sliceEnd) {
        if (this.#buffer.length === 0 && !(await this.#fill())) break;
        this.#claimAhead();
        const row = this.#buffer.shift();
        if (row) this.#start(row);
        if (this.#inFlight.size >= this.#context.account.concurrency) await this.#oneIsBack();
        if (this.#results.length + this.#beingWritten > MOST_UNWRITTEN) await this.#writing;
      }
    } finally {
      await Promise.all(this.#inFlight);
      await this.#claiming;
      clearInterval(renewing);
      clearInterval(flushing);
      if (this.#buffer.length > 0) this.#isDry = false;
      for (const { n, chunk, sends, action } of this.#buffer)
        this.#results.push({ n, chunk, outcome: 'unsent', sends, action });
      this.#buffer = [];
      this.#flush();
      await this.#writing;
    }
    if (this.#stop) return { status: 'stopped', cause: this.#stop };
    return this.#isDry ? { status: 'dry' } : { status: 'more' };
  }

  async close(): Promise<void> {
    await dropClaims(this.#pool, [this.#claim.id]);
  }

  #hasToStop(): boolean {
    return this.#stop !== undefined || this.#isLost || this.#context.signal.aborted;
  }

  async #fill(): Promise<boolean> {
    await this.#claiming;
    if (this.#buffer.length === 0) await this.#claimMore();
    if (this.#buffer.length === 0 && this.#gaveBack) {
      await Promise.all(this.#inFlight);
      this.#flush();
      await this.#writing;
      this.#gaveBack = false;
      await this.#claimMore();
    }
    return this.#buffer.length > 0;
  }

  /** The next chunk is claimed while this one is sent: nothing stands still for a transaction. */
  #claimAhead(): void {
    if (this.#claiming || this.#isDry || this.#buffer.length > this.#chunk / 2) return;
    this.#claiming = this.#claimMore()
      .catch(() => {}) // met again, and told, when the buffer is empty
      .finally(() => {
        this.#claiming = undefined;
      });
  }

  async #claimMore(): Promise<void> {
    const rows = await claimRows(this.#pool, this.#claim, this.#chunk);
    this.#isDry = rows.length === 0;
    this.#buffer.push(...rows);
  }

  #start(row: ClaimedRow): void {
    const dispatchBefore = this.#claim.expiresAtMs - this.#context.account.timeoutMs - GUARD_MS;
    const sending = this.#send(row, { dispatchBefore, stopWaiting: this.#context.signal }).then(
      ({ result, calls, limited, stop }) => {
        this.#results.push(result);
        this.#gaveBack ||= result.outcome === 'unsent';
        this.#calls += calls;
        this.#limited += limited;
        if (stop) this.#stop ??= stop;
        this.#watchLimited({ calls, limited });
      },
      (error: unknown) => {
        // Not a failed call, those are results: a defect. The row stays INTENT and is settled by a read.
        this.#stop ??= new RunFailed('SEND_FAILED', `Sending a row failed: ${String(error)}`, { cause: error });
      },
    );
    const tracked = sending.finally(() => {
      this.#inFlight.delete(tracked);
      this.#onBack?.();
    });
    this.#inFlight.add(tracked);
  }

  /** Not a race of all that are in flight: each would be listened to again for every row that is sent meanwhile. */
  #oneIsBack(): Promise<void> {
    return new Promise((resolve) => {
      this.#onBack = resolve;
    });
  }

  /** One congestion answers all that are in flight with "slow down"; many more in a row come of no rate. */
  #watchLimited({ calls, limited }: { calls: number; limited: number }): void {
    if (calls === 0) return;
    this.#limitedInARow = limited === calls ? this.#limitedInARow + limited : 0;
    const most = LIMITED_IN_A_ROW + this.#context.account.concurrency;
    if (this.#limitedInARow > most) this.#stop ??= nothingButLimited('sending');
  }

  #flush(): void {
    if (this.#results.length === 0) return;
    const results = this.#results;
    this.#beingWritten += results.length;
    const counted = { calls: this.#calls, limited: this.#limited };
    this.#results = [];
    this.#calls = 0;
    this.#limited = 0;
    this.#writing = this.#writing
      .then(() => this.#write(results, counted))
      .catch((error: unknown) => {
        this.#stop ??= new ComeBack(`the ledger could not be written: ${String(error)}`, 1_000);
      })
      .finally(() => {
        this.#beingWritten -= results.length;
      });
  }

  async #write(results: readonly Attempt[], counted: { calls: number; limited: number }): Promise<void> {
    const rowsSettled = results.filter(({ outcome, verdict }) => verdict !== undefined || outcome === 'acked').length;
    await inTransaction(this.#pool, async (db) => {
      await recordAttempts(db, this.#claim, results);
      const status = await recordProgress(db, this.#context.run.id, { ...counted, rowsSettled });
      // Cancelled, paused or failed meanwhile: what is claimed and not sent yet is given back.
      if (status !== 'running') this.#isLost = true;
    });
  }

  async #renew(): Promise<void> {
    try {
      const renewed = await renewClaim(this.#pool, this.#claim);
      if (renewed) this.#claim = renewed;
      else this.#isLost = true;
    } catch (error) {
      // The claim runs out by itself, and nothing is dispatched past its end.
      this.#context.log.warn({ err: error, run: this.#context.run.id }, 'a claim could not be renewed');
    }
  }
}
