/** Everything the ledger knows about one row, in the order in which it happened. */
import type { Facts } from '../../../base/reasons/reason.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { type FileLine, linesOf } from '../matching/staged-orders.ts';
import type { RowAction, RowState, Verdict } from '../rows.ts';

/** Times are in ISO 8601. */
export interface RowStory {
  readonly run: string;
  /** Its row number in the run; for a file, the line. */
  readonly n: number;
  readonly sourceId: string;
  readonly label: string | null;
  readonly state: RowState;
  readonly input: RowInput;
  /** The records it was matched with. */
  readonly matches: readonly RowMatch[];
  /** What is to be sent; `fields`: sent instead of the input's fields. */
  readonly plan: {
    readonly action: RowAction;
    readonly recordId: string | null;
    readonly fields: Readonly<Record<string, unknown>> | null;
  } | null;
  readonly attempts: readonly RowAttempt[];
  /** Verdicts that were replaced later. */
  readonly formerVerdicts: readonly RowVerdict[];
  readonly verdict: RowVerdict | null;
}

export interface RowInput {
  /** The keys of the row or its customer: e-mail, phone, name, organization, customer id. */
  readonly keys: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, unknown>> | null;
  /** The fields for creating the customer of an order. */
  readonly customer: Readonly<Record<string, unknown>> | null;
  /** For a file: its cells; `column` is null beyond the header, and begins with the line where an order has several. */
  readonly cells: readonly { readonly column: string | null; readonly cell: string }[] | null;
}

export interface RowMatch {
  readonly kind: string;
  readonly recordId: string;
  /** The evidence, such as e-mail. */
  readonly by: string;
}

export interface RowAttempt {
  readonly at: string;
  readonly action: RowAction | null;
  readonly outcome: 'acked' | 'refused' | 'unknown' | 'lost' | 'unsent';
  readonly httpStatus: number | null;
  readonly reason: string | null;
  readonly facts: Facts | null;
  readonly tookMs: number | null;
}

export interface RowVerdict {
  readonly at: string | null;
  readonly verdict: Verdict;
  readonly reason: string | null;
  readonly facts: Facts | null;
  readonly recordId: string | null;
}

/** A bigint as Postgres writes it. */
const ROW_NUMBER = /^(0|[1-9]\d{0,17})$/;

interface StoredRow extends Omit<RowStory, 'input'> {
  readonly keys: RowInput['keys'];
  readonly fields: RowInput['fields'];
  readonly customer: RowInput['customer'];
  readonly cells: Parameters<typeof linesOf>[1] | null;
  readonly header: readonly string[] | null;
}

/** `row`: its id at the source (a contact's id, a file's line), or its number. Undefined if the run has no such row. */
export async function readRowStory(db: Queryable, runId: string, row: string): Promise<RowStory | undefined> {
  const found = await db.query<StoredRow>(
    `select i.run_id as run, i.n::float8 as n, coalesce(i.source_id, i.n::text) as "sourceId", i.label,
       (select r.state from ledger.rows r where r.run_id = i.run_id and r.n = i.n) as state,
       jsonb_strip_nulls(jsonb_build_object('e-mail', i.email, 'phone', i.phone, 'name', i.name, 'organization', i.org,
         'customer', i.client_id)) as keys, i.fields, i.customer, i.cells, l.header,
       (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'recordId', record_id, 'by', by) order by kind), '[]')
        from ledger.matches m where m.run_id = i.run_id and m.n = i.n) as matches,
       (select jsonb_build_object('action', action, 'recordId', record_id, 'fields', fields)
        from ledger.plans p where p.run_id = i.run_id and p.n = i.n) as plan,
       (select coalesce(jsonb_agg(jsonb_build_object('at', ${ISO}, 'action', action, 'outcome', outcome, 'httpStatus', http,
          'reason', reason, 'facts', facts, 'tookMs', ms) order by id), '[]')
        from ledger.attempts a where a.run_id = i.run_id and a.n = i.n) as attempts,
       (select coalesce(jsonb_agg(${VERDICT} order by at), '[]')
        from ledger.former_verdicts f where f.run_id = i.run_id and f.n = i.n) as "formerVerdicts",
       (select ${VERDICT} from ledger.verdicts v where v.run_id = i.run_id and v.n = i.n) as verdict
     from ledger.inputs i left join ledger.loads l on l.run_id = i.run_id
     where i.run_id = $1 and (i.source_id = $2 or i.n = $3) order by i.source_id is not distinct from $2 desc limit 1`,
    [runId, row, ROW_NUMBER.test(row) ? row : null],
  );
  const [stored] = found.rows;
  if (!stored) return undefined;
  const { keys, fields, customer, cells, header, ...story } = stored;
  const lines = cells && linesOf(story.n, cells);
  const named = lines?.flatMap((line) => namedCells(line, header ?? [], lines.length > 1)) ?? null;
  return { ...story, input: { keys, fields, customer, cells: named } };
}

function namedCells({ line, cells }: FileLine, header: readonly string[], isOneOfSeveral: boolean) {
  const named = cells.map((cell, i) => ({ column: header[i] ?? null, cell }));
  if (!isOneOfSeveral) return named;
  return named.map(({ column, cell }, i) => ({ column: `line ${line}, ${column ?? `column ${i + 1}`}`, cell }));
}

const ISO = `to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const VERDICT = `jsonb_build_object('at', ${ISO}, 'verdict', verdict, 'reason', reason, 'facts', facts, 'recordId', record_id)`;
