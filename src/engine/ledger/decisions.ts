/**
 * Decisions of people about rows in review. A decision about a contact is applied by the next run of its sync
 * (matching/apply-contact-decisions.ts); an ignored order is settled at once.
 */
import type { Queryable } from '../../storage/queryable.ts';
import { CONTACT_LINK } from './matching/contact-links.ts';
import { recount } from './recount.ts';
import { IN_FORCE, IS_LOAD } from './review-sql.ts';
import type { Run } from './runs.ts';
import { reviseRows } from './transitions.ts';
import type { ReviewItem, Subject } from './views/review-items.ts';

export const CHOICES = ['use', 'create', 'ignore', 'later'] as const;
export type Choice = (typeof CHOICES)[number];

export interface NewDecision {
  readonly item: ReviewItem;
  readonly choice: Choice;
  /** The record to use; undefined for other choices. */
  readonly record: string | undefined;
  readonly note: string | undefined;
}

export interface Decision extends Subject {
  /** Its number: a later decision has a higher one. */
  readonly entry: number;
  readonly account: string;
  readonly run: string;
  readonly n: number;
  readonly label: string | null;
  readonly reason: string;
  readonly choice: Choice;
  readonly record: string | null;
  readonly note: string | null;
  /** User and host. */
  readonly decidedBy: string;
  readonly decidedAt: Date;
  readonly appliedAt: Date | null;
  readonly appliedBy: string | null;
  readonly undoneAt: Date | null;
  readonly lapsedAt: Date | null;
  readonly lapsedBecause: 'not needed' | 'evidence changed' | 'record missing' | 'record taken' | null;
}

/** One person at a time decides, so that each check holds until the decision is stored. Until the transaction ends. */
export async function lockDecisions(db: Queryable): Promise<void> {
  await db.query('lock table ledger.decisions in share row exclusive mode');
}

/**
 * Decisions do not change until the transaction ends. A transaction that applies them begins with this: taken later, it
 * could wait for a person's transaction that waits for its rows.
 */
export async function holdDecisions(db: Queryable): Promise<void> {
  await db.query('lock table ledger.decisions in row exclusive mode');
}

/** The customers that waiting decisions have chosen for contacts, each with its contact. */
export async function chosenCustomers(db: Queryable, scope: string): Promise<ReadonlyMap<string, string>> {
  const found = await db.query<{ record: string; subject: string }>(
    `select d.record_id as record, d.subject from ledger.decisions d
     where d.scope = $1 and d.kind = 'contact' and d.choice = 'use' and ${IN_FORCE}`,
    [scope],
  );
  return new Map(found.rows.map(({ record, subject }) => [record, subject]));
}

/** Of each of these runs whose rows can be decided: how many of its rows in review a person has decided since; a later run may have applied it. */
export async function decidedRows(
  db: Queryable,
  runs: readonly Pick<Run, 'id' | 'scope' | 'type'>[],
): Promise<ReadonlyMap<string, number>> {
  if (runs.length === 0) return new Map();
  const isLive = `d.scope = u.scope and d.choice <> 'later' and d.undone_at is null and d.lapsed_at is null`;
  // Each row is looked up by its number: Postgres would read all rows in review for each decision.
  const isInReview = (n: string) =>
    `(select v.verdict = 'review' and v.at < d.decided_at from ledger.verdicts v where v.run_id = u.id and v.n = ${n})`;
  const found = await db.query<{ id: string; n: number }>(
    `select u.id, (select count(distinct (d.kind, d.subject))::int from ledger.decisions d
         left join lateral (select i.n from ledger.inputs i where d.kind = 'contact' and i.run_id = u.id and i.source_id = d.subject offset 0) i on true
       where ${isLive} and case d.kind when 'order' then d.run_id = u.id and ${isInReview('d.n')} else ${isInReview('i.n')} end) as n
     from unnest($1::text[], $2::text[], $3::text[]) u (id, scope, type) where u.type <> 'orders' or ${IS_LOAD('u.id')}`,
    [runs.map(({ id }) => id), runs.map(({ scope }) => scope), runs.map(({ type }) => type)],
  );
  return new Map(found.rows.map(({ id, n }) => [id, n]));
}

/** Those of `customers` that are linked with contacts, each with its contact. */
export async function linkedCustomers(
  db: Queryable,
  scope: string,
  customers: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await db.query<{ record: string; subject: string }>(
    `select record_id as record, source_id as subject from ledger.links
     where scope = $1 and kind = $2 and record_id = any($3)`,
    [scope, CONTACT_LINK, customers],
  );
  return new Map(found.rows.map(({ record, subject }) => [record, subject]));
}

/**
 * Stores decisions, and settles ignored orders. A decision replaces an earlier one about the same item. Run it in one
 * transaction, after `lockDecisions`. `by`: user and host.
 */
export async function decide(db: Queryable, decisions: readonly NewDecision[], by: string): Promise<void> {
  const rows = decisions.map(({ item, choice, record, note }) => {
    const { scope, kind, subject, run, n, reason, hash, customers } = item;
    return { scope, kind, subject, run, n, reason, choice, record, note, hash, customers };
  });
  const given = `jsonb_to_recordset($1) as t (scope text, kind text, subject text, run text, n bigint, reason text,
    choice text, record text, note text, hash text, customers jsonb)`;
  const json = JSON.stringify(rows);
  await db.query(
    `update ledger.decisions d set undone_at = clock_timestamp() from ${given}
     where d.scope = t.scope and d.kind = t.kind and d.subject = t.subject and ${IN_FORCE}`,
    [json],
  );
  await db.query(
    `insert into ledger.decisions (scope, kind, subject, run_id, n, reason, choice, record_id, note, decided_by, hash, customers)
     select scope, kind, subject, run, n, reason, choice, record, note, $2, hash, customers from ${given}`,
    [json, by],
  );
  await db.query(
    `update ledger.links l set contact = null from ${given} -- so that the contact is a row of the next run
     where t.kind = 'contact' and l.scope = t.scope and l.kind = $2 and l.source_id = t.subject`,
    [json, CONTACT_LINK],
  );
  const ignored = decisions.filter(({ item, choice }) => item.kind === 'order' && choice === 'ignore');
  await ignoreOrders(
    db,
    ignored.map(({ item }) => item),
    by,
  );
}

async function ignoreOrders(db: Queryable, items: readonly ReviewItem[], who: string): Promise<void> {
  for (const run of new Set(items.map((item) => item.run))) {
    const rows = items.filter((item) => item.run === run);
    await reviseRows(db, run, {
      sql: `select v.n, 'existing' as verdict, 'DECIDED_IGNORE' as reason, jsonb_build_object('was', v.reason, 'who', $3::text) as facts, v.record_id
        from ledger.verdicts v where v.run_id = $1 and v.n = any($2)`,
      values: [rows.map(({ n }) => n), who],
    });
    await db.query(
      `update ledger.decisions d set applied_at = clock_timestamp(), applied_by = d.run_id
       where d.scope = $1 and d.kind = 'order' and d.subject = any($2) and ${IN_FORCE}`,
      [rows[0]?.scope, rows.map(({ subject }) => subject)],
    );
  }
  await recount(
    db,
    items.map(({ run }) => ({ run, was: 'review', is: 'existing' })),
  );
}

/** Undoes a decision that is not applied, or that ignores a row; false if it was applied meanwhile. */
export async function undoDecision(db: Queryable, { scope, kind, subject, run, n }: Decision): Promise<boolean> {
  const undone = await db.query<{ wasApplied: boolean }>(
    `update ledger.decisions d set undone_at = clock_timestamp()
     where d.scope = $1 and d.kind = $2 and d.subject = $3 and ${IN_FORCE} returning d.applied_at is not null as "wasApplied"`,
    [scope, kind, subject],
  );
  const [first] = undone.rows;
  if (kind === 'order' && first?.wasApplied) await reviewAgain(db, run, n);
  return first !== undefined;
}

/** Restores the verdict of an order that was ignored. */
async function reviewAgain(db: Queryable, run: string, n: number): Promise<void> {
  const restored = await reviseRows(db, run, {
    sql: `select f.n, f.verdict, f.reason, f.facts, f.record_id from ledger.former_verdicts f
      join ledger.verdicts v on v.run_id = f.run_id and v.n = f.n and v.reason = 'DECIDED_IGNORE'
      where f.run_id = $1 and f.n = $2 order by f.replaced_at desc limit 1`,
    values: [n],
  });
  if (restored > 0) await recount(db, [{ run, was: 'existing', is: 'review' }]);
}

export interface DecisionFilter {
  readonly account?: string | undefined;
  readonly kind?: Subject['kind'] | undefined;
  readonly subject?: string | undefined;
}

/** The newest first, at most `limit`; `after`: the entry of the last decision of the page before. */
export async function listDecisions(
  db: Queryable,
  { account, kind, subject }: DecisionFilter = {},
  { limit, after }: { readonly limit?: number; readonly after?: number | undefined } = {},
): Promise<readonly Decision[]> {
  const found = await db.query<Decision>(
    `select d.id::float8 as entry, d.scope, d.kind, d.subject, coalesce(u.account, d.scope) as account, d.run_id as run, d.n::float8 as n,
       i.label, d.reason, d.choice, d.record_id as record, d.note, d.decided_by as "decidedBy",
       d.decided_at as "decidedAt", d.applied_at as "appliedAt", d.applied_by as "appliedBy",
       d.undone_at as "undoneAt", d.lapsed_at as "lapsedAt", d.lapsed_because as "lapsedBecause"
     from ledger.decisions d left join ledger.runs u on u.id = d.run_id
       left join ledger.inputs i on i.run_id = d.run_id and i.n = d.n
     where ($1::text is null or coalesce(u.account, d.scope) = $1) and ($2::text is null or d.kind = $2)
       and ($3::text is null or d.subject = $3) and ($5::bigint is null or d.id < $5)
     order by d.id desc limit $4`,
    [account, kind, subject, limit, after],
  );
  return found.rows;
}
