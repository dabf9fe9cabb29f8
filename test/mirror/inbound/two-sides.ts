/**
 * One task, an issue linked with it, and a receiver of webhooks that stores it too. People change each of them at any
 * moment; Lockstep's work between them is cut into steps that a test runs in any order. The ledger is real.
 */
import type { Client } from '../../../src/client/call/client.ts';
import type { Delivery, Target, TaskState } from '../../../src/contract/target.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { applyReport, recordReport } from '../../../src/mirror/inbound/apply-report.ts';
import { overwriting } from '../../../src/mirror/inbound/changed-there.ts';
import { keepHook } from '../../../src/mirror/inbound/inbox.ts';
import { takeDue } from '../../../src/mirror/inbound/waiting-reports.ts';
import { linkKind } from '../../../src/mirror/links/item-links.ts';
import { claimDue, dropOutboxClaims, takeOutboxClaim } from '../../../src/mirror/outbox/claims.ts';
import { queueDeliveries, recipientsOf } from '../../../src/mirror/outbox/outbox.ts';
import { writeOutcomes } from '../../../src/mirror/outbox/outcomes.ts';
import { decideDelivery } from '../../../src/mirror/outbox/retry-policy.ts';
import { keepSeen } from '../../../src/mirror/tasks/watching.ts';
import type { TasksSync } from '../../../src/settings/settings.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { aRun, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { anAccount } from '../../engine/worker/an-account.ts';
import type { FreshDatabase } from '../../support/database.ts';

export type Side = 'task' | 'issue' | 'receiver';
type TargetName = Exclude<Side, 'task'>;
const TARGETS: readonly TargetName[] = ['issue', 'receiver'];
/** Late: the target makes the change after Lockstep has given up waiting for the answer. */
const FATES = ['answer lost', 'process killed', 'late'] as const;
const ITEM: Readonly<Record<TargetName, string>> = { issue: 'i-1', receiver: '1' };

export interface TwoSides {
  readonly states: Readonly<Record<Side, boolean>>;
  /** Writes of Lockstep that changed a side. */
  writes(): number;
  /** The next step: each number chooses one. */
  step(choice: number): Promise<void>;
  /** The same, but people change nothing. */
  stepAlone(choice: number): Promise<void>;
  /** A person changes a side. */
  toggle(side: Side): void;
  /** A person changes the title of the task. */
  retitle(): void;
  /** The issue has been read once, as a poll does; from then on a call alone proves nothing. */
  lookAtIssue(): Promise<void>;
  /** People change nothing more: every call arrives, and all work continues until none is left. */
  comeToRest(): Promise<void>;
}

export async function openTwoSides(database: FreshDatabase, onConflict: 'service' | 'target'): Promise<TwoSides> {
  const { pool } = database;
  await pool.query(
    'truncate ledger.deliveries, ledger.delivery_claims, ledger.item_reports, ledger.hooks_seen cascade',
  );
  const run = await aRun(database, { type: 'tasks' });
  const { account, sync } = run;
  const states = { task: false, issue: false, receiver: false };
  const calls: Record<TargetName, { readonly id: number; readonly isCompleted: boolean }[]> = {
    issue: [],
    receiver: [],
  };
  let writes = 0;
  let made = 0;
  let title = 0;
  const late: (() => void)[] = [];
  await pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ($1, $2, 'task:1', $3, '')`,
    [account, linkKind('issue'), ITEM.issue],
  );

  const pieces = createPieces();
  const { pause } = pieces;

  function change(side: Side, isCompleted: boolean): void {
    if (states[side] === isCompleted) return;
    states[side] = isCompleted;
    if (side !== 'task') calls[side].push({ id: ++made, isCompleted });
  }

  const client: Client['call'] = async (operation, { body }) => {
    await pause();
    if (operation === 'tasks.complete') {
      const { isCompleted } = body as { isCompleted: boolean }; // safe: the body of that operation
      if (states.task !== isCompleted) writes++;
      states.task = isCompleted;
    }
    const content = { id: 1, taskName: 'Task', isCompleted: states.task };
    await pause();
    return { status: 'applied', httpStatus: 200, content };
  };
  const issue: Target = {
    deliver: () => Promise.reject(new Error('deliveries are made piece by piece')),
    async readItem(itemId) {
      await pause();
      const isCompleted = states.issue;
      await pause();
      return { status: 'found', item: { itemId, isCompleted, status: String(isCompleted) } };
    },
    close: async () => {},
  };
  const { readItem: _none, ...receiver } = issue;
  const needs = {
    pool,
    accounts: { use: async () => anAccount(client) },
    syncs: [
      {
        name: sync,
        account,
        type: 'tasks',
        targets: TARGETS,
        options: { onConflict, poll: [] },
      } as unknown as TasksSync,
    ],
    target: async (name: string) => (name === 'issue' ? issue : receiver),
    filterOf: () => undefined,
    random: () => 0.5,
    signal: new AbortController().signal,
  };

  const mayOverwrite = overwriting({ pool, syncs: needs.syncs, hasHook: (name) => name === 'issue' });

  async function apply(name: TargetName): Promise<void> {
    await pool.query(`update ledger.item_reports set due_at = clock_timestamp() where state = 'waiting'`);
    for (const report of await takeDue(pool, [name], { limit: 1, holdMs: 60_000 })) {
      const outcome = await applyReport(needs, report);
      if (outcome !== undefined) await recordReport(pool, outcome);
    }
  }

  /** As a target works: it reads the issue before it writes, and sends the receiver the current state. */
  async function deliver(name: TargetName, fate: 'answered' | (typeof FATES)[number]): Promise<void> {
    await pool.query(`update ledger.deliveries set due_at = clock_timestamp() where state = 'waiting'`);
    const claim = await takeOutboxClaim(pool, name, { worker: WORKER, ttlMs: 60_000, now: undefined });
    for (const { delivery, attempts } of await claimDue(pool, claim, { limit: 1, now: undefined })) {
      const status = await tell(name, delivery, fate === 'late');
      await pause();
      if (fate === 'process killed') return dropOutboxClaims(pool, [claim.id]);
      const outcome =
        fate === 'answered'
          ? { status }
          : ({ status: 'later', reason: 'TIMEOUT', detail: 'no answer', isUnclear: true } as const);
      const decision = decideDelivery(outcome, { attempts: Math.min(attempts, 2), random: 0.5 });
      const isUnclear = 'isUnclear' in outcome && outcome.isUnclear;
      await writeOutcomes(pool, claim, [{ id: delivery.id, decision, isUnclear }], undefined);
    }
  }

  async function tell(name: TargetName, delivery: Delivery, isLate: boolean): Promise<'delivered' | 'already'> {
    const { task } = delivery;
    await pause();
    if (name === 'issue') {
      const isCompleted = states.issue;
      if (isCompleted === task.isCompleted) return 'already';
      const item = { itemId: ITEM.issue, isCompleted, status: '' };
      if ((await mayOverwrite('issue', sync, delivery, item)) === 'no') return 'already';
    }
    await pause();
    const write = () => {
      if (states[name] !== task.isCompleted) writes++;
      // The receiver makes no call about what it was sent; GitHub does.
      if (name === 'issue') change('issue', task.isCompleted);
      else states.receiver = task.isCompleted;
    };
    if (isLate) late.push(write);
    else write();
    return 'delivered';
  }

  /** No attempt that ended before can have an effect afterwards. */
  async function letAMinutePass(): Promise<void> {
    for (const write of late.splice(0)) write();
    await pool.query(`update ledger.deliveries set unclear_at = unclear_at - interval '1 minute'`);
  }

  async function scan(): Promise<void> {
    const readAtMs = performance.now();
    await pause();
    const task = taskState(states.task, title);
    await pause();
    await keepSeen(watchingOf(database, run), 'task', [task], { readAtMs, isSilent: false });
  }

  /** Calls of the issue come in any order and more than once; calls of the receiver come in their order. */
  async function receive(name: TargetName, choice: number): Promise<void> {
    const at = name === 'issue' ? choice % Math.max(1, calls.issue.length) : 0;
    const call = calls[name][at];
    if (call === undefined) return;
    if (name === 'receiver' || choice % 3 > 0) calls[name].splice(at, 1);
    await keepHook(pool, name, [{ itemId: ITEM[name], isCompleted: call.isCompleted, status: '' }], `${call.id}`);
  }

  /** Genuine and old, or about something that is over: only a read of the issue counts then. */
  const mislead = (choice: number) =>
    keepHook(pool, 'issue', [{ itemId: ITEM.issue, isCompleted: choice % 2 === 0, status: '' }], `old ${++made}`);

  const toggle = (side: Side) => change(side, !states[side]);
  const toggles = [() => toggle('task'), () => toggle('issue'), () => toggle('receiver')];
  const begin: readonly ((choice: number) => Promise<void> | void)[] = [
    mislead,
    (choice) => receive('issue', choice),
    (choice) => receive('receiver', choice),
    () => pieces.start('scan', scan),
    (choice) => pieces.start('deliver issue', () => deliver('issue', FATES[choice % 5] ?? 'answered')),
    (choice) => pieces.start('deliver receiver', () => deliver('receiver', FATES[choice % 5] ?? 'answered')),
    () => pieces.start('apply issue', () => apply('issue')),
    () => pieces.start('apply receiver', () => apply('receiver')),
    () => late.shift()?.(),
    letAMinutePass,
  ];

  async function step(choice: number, begins: typeof begin): Promise<void> {
    const chosen = choice % (begins.length + 2 * pieces.waiting());
    if (chosen < begins.length) await begins[chosen]?.(Math.floor(choice / 100));
    else await pieces.resume(chosen);
    await pieces.rest();
  }

  await keepSeen(watchingOf(database, run), 'task', [taskState(false)], {
    readAtMs: performance.now(),
    isSilent: true,
  });
  return {
    states,
    writes: () => writes,
    toggle,
    retitle() {
      title++;
    },
    async lookAtIssue() {
      await pool.query(
        `insert into ledger.item_reports (target, item_id, is_completed, status, source, state, verdict, seen_completed, seen_at)
         values ('issue', $1, $2, '', 'read', 'ended', 'same', $2, clock_timestamp())
         on conflict (target, item_id) do update set seen_completed = excluded.seen_completed, seen_at = excluded.seen_at`,
        [ITEM.issue, states.issue],
      );
    },
    step: (choice) => step(choice, [...toggles, ...begin]),
    stepAlone: (choice) => step(choice, begin),
    async comeToRest() {
      const finish = async () => {
        for (await pieces.rest(); pieces.waiting() > 0; await pieces.rest()) await pieces.resume(0);
      };
      await finish();
      for (let round = 0; round < 4; round++) {
        for (const name of TARGETS) while (calls[name].length > 0) await receive(name, 1);
        for (const name of [...TARGETS, ...TARGETS]) {
          pieces.start(`apply ${name}`, () => apply(name));
          await finish();
        }
        pieces.start('scan', scan);
        await finish();
        for (const name of [...TARGETS, ...TARGETS, ...TARGETS]) {
          pieces.start(`deliver ${name}`, () => deliver(name, 'answered'));
          await finish();
        }
        await letAMinutePass();
      }
    },
  };
}

function watchingOf({ pool }: FreshDatabase, run: Run): Parameters<typeof keepSeen>[0] {
  return {
    pool,
    run,
    exclusive: { transaction: (work) => inTransaction(pool, work) },
    enqueue: (db, changes) =>
      queueDeliveries(
        db,
        recipientsOf(TARGETS, () => undefined),
        changes,
      ),
    takeOrdinals: () => 1,
    seen: new Set(),
  };
}

function taskState(isCompleted: boolean, title = 0): TaskState {
  const status = isCompleted ? 'completed' : 'open';
  const nothing = { startDate: undefined, endDate: undefined, parentId: undefined };
  return {
    kind: 'task',
    id: '1',
    title: `Task ${title}`,
    description: '',
    status,
    isCompleted,
    isGone: false,
    ...nothing,
  };
}

interface Pieces {
  /** Starts it, unless one of that name is not over. */
  start(name: string, work: () => Promise<void>): void;
  pause(): Promise<void>;
  /** The number of pieces of work that are stopped and can continue. */
  waiting(): number;
  resume(which: number): Promise<void>;
  /** Runs until each of them is stopped or over. */
  rest(): Promise<void>;
}

/** Work that stops at each of its calls until it is released. */
function createPieces(): Pieces {
  const standing: (() => void)[] = [];
  const begun = new Map<string, Promise<void>>();
  let moving = 0;
  let failure: unknown;
  return {
    start(name, work) {
      if (begun.has(name)) return;
      moving++;
      const over = work()
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => {
          moving--;
          begun.delete(name);
        });
      begun.set(name, over);
    },
    pause() {
      moving--;
      return new Promise((resolve) => standing.push(resolve));
    },
    waiting: () => standing.length,
    async resume(which) {
      const [next] = standing.splice(which % standing.length, 1);
      if (!next) return;
      moving++;
      next();
    },
    async rest() {
      while (moving > 0) await new Promise(setImmediate);
      if (failure !== undefined) throw failure;
    },
  };
}
