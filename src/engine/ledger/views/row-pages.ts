/** The rows of a run for people, in the order they were seen: all of them, or pages of those that fit a filter. */
import type { Facts } from '../../../base/reasons/reason.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { SHOWN_CHANGES } from '../matching/differences.ts';
import type { RowAction, Verdict } from '../rows.ts';
import { OPEN_REASON } from '../unsettled.ts';
import { isGrouped, recordedGroups } from './run-figures.ts';

/** A row as shown in exports and `runs show`. */
export interface ReportedRow {
  readonly sourceId: string;
  readonly label: string | null;
  readonly verdict: Verdict;
  readonly reason: string | null;
  /** Rows of earlier versions have only a text: `said`. */
  readonly facts: Facts | null;
  readonly recordId: string | null;
  readonly action: RowAction | null;
  readonly sends: number;
}

export interface RowFilter {
  /** One of these verdicts. */
  readonly verdicts?: readonly Verdict[] | undefined;
  readonly reason?: string | undefined;
  /** Its id, number or e-mail, or a part of its label, name, phone or fields. */
  readonly text?: string | undefined;
}

export interface NumberedRow extends ReportedRow {
  readonly n: number;
}

export interface RowPage {
  readonly rows: readonly NumberedRow[];
  /** `after` of the next page; undefined on the last one. */
  readonly next: number | undefined;
  /** The search stopped after the row with this number, before the page was full; the next page continues it. */
  readonly searchedTo: number | undefined;
}

interface PageHow {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: number | undefined;
  /** After this time, a search stops. Default: 40. */
  readonly searchMs?: number;
}

const SEARCH_MS = 40;
/** Rows that are searched first. While this is fast, the next part is twice as large. */
const FIRST_PART = 2_000;

/** SQL: the rows of run `$1` whose numbers are in `page`, as `NumberedRow`. */
const REPORTED = `select r.source_id as "sourceId", r.label, coalesce(r.verdict, 'unknown') as verdict,
       coalesce(r.facts, case when r.verdict is null then ${SHOWN_CHANGES('r.n')} end) as facts,
       coalesce(r.reason, case when r.verdict is null then ${OPEN_REASON('r.n')} end) as reason,
       r.record_id as "recordId", r.action, r.sends, r.n::float8 as n
     from page cross join lateral (select * from ledger.rows r where r.run_id = $1 and r.n = page.n offset 0) r order by page.n`;

/** Pages through a run's rows, optionally those of one verdict, in the order they were seen. */
export async function* reportRows(db: Queryable, runId: string, verdict?: Verdict): AsyncGenerator<ReportedRow> {
  const PAGE = 1_000;
  for (let after = -1; ; ) {
    const found = await db.query<NumberedRow>(
      // Reads a page of inputs first and looks up each row by its number: with a join, each page would read the whole run.
      `with page as materialized (
         select i.n from ledger.inputs i where run_id = $1 and n > $2 and ($3::text is null or
           coalesce((select v.verdict from ledger.verdicts v where v.run_id = $1 and v.n = i.n), 'unknown') = $3)
         order by n limit ${PAGE}
       )
       ${REPORTED}`,
      [runId, after, verdict],
    );
    for (const { n, ...row } of found.rows) {
      after = n;
      yield row;
    }
    if (found.rows.length < PAGE) return;
  }
}

/** The first `limit` rows that fit the filter, or fewer if a search takes too long. */
export async function pageOfRows(
  db: Queryable,
  runId: string,
  filter: RowFilter,
  { limit, after, searchMs = SEARCH_MS }: PageHow,
): Promise<RowPage> {
  const rows: NumberedRow[] = [];
  const isSearch = Object.values(filter).some((value) => value !== undefined);
  const stopAt = performance.now() + searchMs;
  let from = after ?? (await placeBeforeFirst(db, runId, filter));
  let part = FIRST_PART;
  while (from !== undefined) {
    const startedAt = performance.now();
    const to = isSearch ? await endOfPart(db, runId, from, part) : undefined;
    rows.push(...(await fittingRows(db, runId, filter, { from, to, limit: limit + 1 - rows.length })));
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]?.n, searchedTo: undefined };
    from = to;
    if (from !== undefined && performance.now() >= stopAt) return { rows, next: from, searchedTo: from };
    if (performance.now() - startedAt < searchMs / 4) part *= 2;
  }
  return { rows, next: undefined, searchedTo: undefined };
}

/**
 * The number after which the rows that fit may begin; undefined if none fits. It is known from what was recorded when the run
 * ended.
 */
async function placeBeforeFirst(
  db: Queryable,
  runId: string,
  { verdicts, reason }: RowFilter,
): Promise<number | undefined> {
  const groups = verdicts === undefined && reason === undefined ? undefined : await recordedGroups(db, runId);
  const areGrouped = reason !== undefined || (verdicts?.every(isGrouped) ?? false);
  if (groups === undefined || !areGrouped) return -1;
  const fitting = groups.filter(
    (one) => (verdicts?.includes(one.verdict) ?? true) && (reason ?? one.reason) === one.reason,
  );
  return fitting.length === 0 ? undefined : Math.min(...fitting.flatMap(({ first }) => first)) - 1;
}

/** The number of the last of the `rows` rows after `from`; undefined if there are fewer. */
async function endOfPart(db: Queryable, runId: string, from: number, rows: number): Promise<number | undefined> {
  const found = await db.query<{ n: number }>(
    // `i.n`: only `n` would be the result, which no index has in order.
    'select i.n::float8 as n from ledger.inputs i where i.run_id = $1 and i.n > $2 order by i.n offset $3 limit 1',
    [runId, from, rows - 1],
  );
  return found.rows[0]?.n;
}

/** `to`: the last number; default: that of the last row. */
async function fittingRows(
  db: Queryable,
  runId: string,
  { verdicts, reason, text }: RowFilter,
  { from, to, limit }: { readonly from: number; readonly to: number | undefined; readonly limit: number },
): Promise<readonly NumberedRow[]> {
  const found = await db.query<NumberedRow>(
    `with page as materialized (
       select i.n from ledger.inputs i left join ledger.verdicts v on v.run_id = $1 and v.n = i.n and v.n > $2 and v.n <= $7
       where i.run_id = $1 and i.n > $2 and i.n <= $7 and ($3::text[] is null or coalesce(v.verdict, 'unknown') = any($3))
         and ($4::text is null or case when v.n is not null then v.reason = $4 else ${OPEN_ROW_REASON} = $4 end)
         and ($5::text is null or i.source_id = $5 or i.n::text = $5
           or concat_ws(' ', i.label, i.email, i.phone, i.name, i.org) ilike ${CONTAINS('$5')}
           or concat_ws(' ', jsonb_path_query_array(i.fields, '$.*'), i.cells) ilike ${CONTAINS(IN_JSON('$5'))})
       order by i.n limit $6
     )
     ${REPORTED}`,
    [runId, from, verdicts, reason, text, limit, to ?? Number.MAX_SAFE_INTEGER],
  );
  return found.rows;
}

/** SQL: the reason of row `i`, which has no verdict. */
const OPEN_ROW_REASON = `coalesce((select a.reason from ledger.last_attempts a where a.run_id = i.run_id and a.n = i.n),
  ${OPEN_REASON('i.n')})`;

/** SQL: a text as it is within JSON, without the quotes around it. */
const IN_JSON = (text: string) => `left(right(to_json(${text}::text)::text, -1), -1)`;

/** SQL: a pattern for texts that contain a text as it is. */
const CONTAINS = (text: string) =>
  `'%' || replace(replace(replace(${text}, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'`;
