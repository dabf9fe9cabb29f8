/**
 * Links many tasks with items at once. All rows are read, and checked against each other and against the existing links,
 * before the first one is written; then the good ones are written in one transaction. They wait in a temporary table, not in memory.
 */
import type pg from 'pg';
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { linkKind } from './item-links.ts';
import type { LinkRow } from './read-links.ts';

export interface LinkImport {
  readonly scope: string;
  readonly target: string;
  /** In batches, in the order of the file. */
  readonly rows: AsyncIterable<readonly LinkRow[]>;
  /** Replaces existing links that differ. Otherwise rows with a different link are refused. */
  readonly isReplacing: boolean;
  readonly isDryRun: boolean;
  /** How many of the refused rows to return. */
  readonly mostRefused: number;
  /** Once it is aborted, nothing is written. */
  readonly signal: AbortSignal;
}

export interface ImportedLinks {
  readonly rows: number;
  /** Their sum is the number of rows. `same`: already linked, also by an earlier row. */
  readonly counts: Readonly<Record<LinkVerdict, number>>;
  /** Other tasks whose item is now linked with a task of the file. */
  readonly unlinked: number;
  /** Tasks of good rows that no sync of the scope has seen, if a sync has seen any task. */
  readonly unseen: number;
  /** The first refused rows, in the order of the file. */
  readonly refused: readonly RefusedLink[];
}

export type LinkVerdict = 'new' | 'same' | 'replaced' | 'refused';

export interface RefusedLink {
  readonly line: number;
  readonly code: string;
  readonly facts: Facts;
}

/** @throws what `signal` was aborted with */
export async function importLinks(pool: pg.Pool, request: LinkImport): Promise<ImportedLinks> {
  return inTransaction(pool, async (db) => {
    await db.query(
      `create temp table read_links (line bigint not null, source_id text, item_id text, verdict text, code text,
         facts json, other text) on commit drop`,
    );
    for await (const batch of request.rows) await stage(db, batch);
    await db.query('analyze read_links');
    // The planner knows neither the verdicts nor the newest links, and a nested loop over both takes minutes.
    await db.query('set local enable_nestloop = off');
    // Other writers of links wait for this short time, so each decision stays true until it is written.
    if (!request.isDryRun) await db.query('lock table ledger.links in share row exclusive mode');
    await refuseContradictions(db, { of: 'source_id', other: 'item_id', code: 'TASK_TWICE' });
    await refuseContradictions(db, { of: 'item_id', other: 'source_id', code: 'ITEM_TWICE' });
    await decide(db, request);
    const unlinked = await unlinkedBy(db, request);
    request.signal.throwIfAborted();
    if (!request.isDryRun) await write(db, request);
    const imported = {
      ...(await countRows(db)),
      unlinked,
      unseen: await unseenIn(db, request),
      refused: await refusedIn(db, request),
    };
    request.signal.throwIfAborted();
    return imported;
  });
}

async function stage(db: Queryable, rows: readonly LinkRow[]): Promise<void> {
  const staged = rows.map((row) => {
    const { line } = row;
    if (row.status === 'good') return { line, source_id: row.source, item_id: row.itemId };
    return { line, verdict: 'refused', code: row.code, facts: JSON.stringify(row.facts) };
  });
  await db.query(
    `insert into read_links (line, source_id, item_id, verdict, code, facts)
     select line, source_id, item_id, verdict, code, facts::json from json_to_recordset($1)
       as t(line bigint, source_id text, item_id text, verdict text, code text, facts text)`,
    [JSON.stringify(staged)],
  );
}

/**
 * Rows that contradict each other about one task or one item are all refused, because it is unclear which one is meant. The
 * first names the first row that differs from it, and every other row names the first.
 */
async function refuseContradictions(
  db: Queryable,
  { of, other, code }: { readonly of: string; readonly other: string; readonly code: string },
): Promise<void> {
  await db.query(
    `with firsts as (select distinct on (${of}) ${of}, ${other}, line from read_links where ${of} is not null
       order by ${of}, line),
     seconds as (select r.${of}, min(r.line) as line from read_links r join firsts f using (${of})
       where r.${other} <> f.${other} group by r.${of})
     update read_links r set verdict = 'refused', code = $1,
       other = case when r.${other} = f.${other} then s.line else f.line end
     from firsts f join seconds s using (${of}) where r.${of} = f.${of} and r.verdict is null`,
    [code],
  );
}

/** Decides every row that is not refused yet, by the existing links. */
async function decide(db: Queryable, { scope, target, isReplacing }: LinkImport): Promise<void> {
  await db.query(
    `update read_links r set verdict = case when k.is_same then 'same'
         when not $3 and (k.linked_with is not null or k.linked_to is not null) then 'refused'
         when k.nth > 1 then 'same'
         when k.linked_with is null and k.linked_to is null then 'new' else 'replaced' end,
       code = case when k.linked_with is not null then 'TASK_LINKED' when k.linked_to is not null then 'ITEM_LINKED' end,
       other = coalesce(k.linked_with, k.linked_to)
     from (select r.line, row_number() over (partition by r.source_id order by r.line) as nth,
         t.record_id is not distinct from r.item_id as is_same, t.record_id as linked_with, i.source_id as linked_to
       from read_links r
       left join ledger.links t on t.scope = $1 and t.kind = $2 and t.source_id = r.source_id
       left join ledger.links i on i.scope = $1 and i.kind = $2 and i.record_id = r.item_id
       where r.verdict is null) k
     where r.line = k.line`,
    [scope, linkKind(target), isReplacing],
  );
}

async function unlinkedBy(db: Queryable, { scope, target }: LinkImport): Promise<number> {
  const found = await db.query<{ count: number }>(
    `select count(*) as count from read_links r
     join ledger.links l on l.scope = $1 and l.kind = $2 and l.record_id = r.item_id
     where r.verdict = 'replaced'
       and not exists (select from read_links o where o.verdict = 'replaced' and o.source_id = l.source_id)`,
    [scope, linkKind(target)],
  );
  return found.rows[0]?.count ?? 0;
}

/** Deletes replaced links first, so that tasks can swap their items. */
async function write(db: Queryable, { scope, target }: LinkImport): Promise<void> {
  const scopeAndKind = [scope, linkKind(target)];
  for (const [column, read] of [
    ['source_id', 'source_id'],
    ['record_id', 'item_id'],
  ]) {
    await db.query(
      `delete from ledger.links l using read_links r
       where l.scope = $1 and l.kind = $2 and l.${column} = r.${read} and r.verdict = 'replaced'`,
      scopeAndKind,
    );
  }
  await db.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id)
     select $1, $2, source_id, item_id, '' from read_links where verdict in ('new', 'replaced')`,
    scopeAndKind,
  );
}

async function countRows(db: Queryable): Promise<Pick<ImportedLinks, 'rows' | 'counts'>> {
  const found = await db.query<Record<LinkVerdict | 'rows', number>>(
    `select count(*) as rows, count(*) filter (where verdict = 'new') as new, count(*) filter (where verdict = 'same') as same,
       count(*) filter (where verdict = 'replaced') as replaced, count(*) filter (where verdict = 'refused') as refused
     from read_links`,
  );
  const { rows, ...counts } = found.rows[0] ?? { rows: 0, new: 0, same: 0, replaced: 0, refused: 0 };
  return { rows, counts };
}

async function unseenIn(db: Queryable, { scope }: LinkImport): Promise<number> {
  const found = await db.query<{ count: number }>(
    `select count(distinct source_id) as count from read_links r where verdict <> 'refused'
       and exists (select from ledger.tasks where scope = $1)
       and not exists (select from ledger.tasks t where t.scope = $1 and t.kind || ':' || t.task_id = r.source_id)`,
    [scope],
  );
  return found.rows[0]?.count ?? 0;
}

async function refusedIn(db: Queryable, { mostRefused }: LinkImport): Promise<readonly RefusedLink[]> {
  // `other`: another line, item or task, by the code.
  const found = await db.query<RefusedLink>(
    `select line, code, coalesce(facts, json_build_object('task', source_id, 'item', item_id, 'line', line, 'other', other))
       as facts from read_links where verdict = 'refused' order by line limit $1`,
    [mostRefused],
  );
  return found.rows;
}
