/** All that the ledger knows of one row, in the order in which it happened. */
import type { Facts } from '../reasons/reason.ts';
import type { RowAction, RowState, Verdict } from './rows.ts';
import type { Queryable } from './runs.ts';

/** Times are in ISO 8601. */
export interface RowStory {
  readonly run: string;
  /** Its place among the run's rows; of a file its line. */
  readonly n: number;
  readonly sourceId: string;
  readonly label: string | null;
  readonly state: RowState;
  readonly input: RowInput;
  /** Whom it was recognised as. */
  readonly matches: readonly RowMatch[];
  /** What is to be sent; `fields`: what is sent in place of the input's. */
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
  /** What recognises it, or its customer: e-mail, phone, name, organization, customer id. */
  readonly keys: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, unknown>> | null;
  /** What the customer of an order would be created with. */
  readonly customer: Readonly<Record<string, unknown>> | null;
  /** Of a file: its cells; `column` is null beyond the header. */
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

interface StoredRow extends Omit<RowStory, 'input'> {
  readonly keys: RowInput['keys'];
  readonly fields: RowInput['fields'];
  readonly customer: RowInput['customer'];
  readonly cells: readonly string[] | null;
  readonly header: readonly string[] | null;
}

/** `row`: what the source calls it (a contact's id, a file's line), or its number. Undefined where the run has no such row. */
export async function readRowStory(db: Queryable, runId: string, row: string): Promise<RowStory | undefined> {
  const facts = `case when r.detail is not null then jsonb_build_object('said', r.detail) end`;
  const found = await db.query<StoredRow>(
    `select r.run_id as run, r.n::float8 as n, r.source_id as "sourceId", r.label, r.state,
       jsonb_strip_nulls(jsonb_build_object('e-mail', r.email, 'phone', r.phone, 'name', r.name, 'organization', r.org,
         'customer', r.client_id)) as keys,
       coalesce(r.own_fields, r.fields) as fields, r.customer, r.cells, l.header,
       '[]'::json as matches,
       case when r.action is not null then json_build_object('action', r.action, 'recordId', r.record_id,
         'fields', case when r.own_fields is not null then r.fields end) end as plan,
       case when r.sends > 0 then json_build_array(json_build_object('at', r.since, 'action', r.action, 'outcome',
         case when r.verdict = 'rejected' then 'refused' when r.state = 'unknown' then 'unknown' else 'acked' end,
         'httpStatus', null, 'reason', case when r.verdict is null then r.reason end,
         'facts', case when r.verdict is null then ${facts} end, 'tookMs', null)) else '[]' end as attempts,
       '[]'::json as "formerVerdicts",
       case when r.verdict is not null then json_build_object('at', null, 'verdict', r.verdict, 'reason', r.reason,
         'facts', ${facts}, 'recordId', r.record_id) end as verdict
     from ledger.rows r left join ledger.loads l using (run_id)
     where r.run_id = $1 and (r.source_id = $2 or r.n::text = $2) order by r.source_id = $2 desc limit 1`,
    [runId, row],
  );
  const [stored] = found.rows;
  if (!stored) return undefined;
  const { keys, fields, customer, cells, header, ...story } = stored;
  const named = cells?.map((cell, i) => ({ column: header?.[i] ?? null, cell })) ?? null;
  return { ...story, input: { keys, fields, customer, cells: named } };
}
