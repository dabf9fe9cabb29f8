/** The statements of a Postgres target: its table's name, quoted, and what is run on it. Pure. */
import type { Delivery } from './target.ts';

export interface TaskTable {
  /** Quoted, with its schema. */
  readonly name: string;
  /** The schema, quoted. */
  readonly schema: string;
  /** Makes the table where it is missing; not its schema. Short enough to stand in a message. */
  readonly create: string;
  /**
   * Puts one task down unless the same or a newer state of it is there; `values` in the order of `rowOf`. Answers one row:
   * `written` how many rows it wrote, `sequence` what was there before.
   */
  readonly upsert: string;
}

/** Column and type, in the order of the table; the key is the first three. */
const COLUMNS = [
  ['account', 'text'],
  ['kind', 'text'],
  ['task_id', 'text'],
  ['sequence', 'bigint'],
  ['status', 'text'],
  ['title', 'text'],
  ['description', 'text'],
  ['is_completed', 'boolean'],
  ['is_gone', 'boolean'],
  ['start_date', 'timestamp'],
  ['end_date', 'timestamp'],
  ['parent_id', 'text'],
  ['seen_at', 'timestamptz'],
] as const;
const KEY = 'account, kind, task_id';

/** `name`: `schema.table`, or a table in public. */
export function taskTable(name: string): TaskTable {
  const [first = '', second] = name.split('.');
  const [schema, table] = second === undefined ? ['public', first] : [first, second];
  const quoted = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
  const columns = COLUMNS.map(([column]) => column);
  const changing = columns.slice(3).map((column) => `${column} = excluded.${column}`);
  return {
    name: quoted,
    schema: quoteIdentifier(schema),
    create:
      `create table if not exists ${quoted} (${COLUMNS.map(([column, type]) => `${column} ${type}`).join(', ')}, ` +
      `delivered_at timestamptz, primary key (${KEY}))`,
    upsert: `with written as (
        insert into ${quoted} as t (${columns.join(', ')}, delivered_at)
        values (${columns.map((_, i) => `$${i + 1}`).join(', ')}, clock_timestamp())
        on conflict (${KEY}) do update set ${changing.join(', ')}, delivered_at = excluded.delivered_at
        where excluded.sequence > t.sequence
        returning 1)
      select (select count(*)::int from written) as written,
        (select sequence::text from ${quoted} where account = $1 and kind = $2 and task_id = $3) as sequence`,
  };
}

/** As Postgres reads exactly this name: case, quotes, spaces and all. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export interface TaskRow {
  readonly values: readonly unknown[];
  /** Dates that are none, as the service wrote them: their columns are null. */
  readonly unreadable: readonly string[];
}

export function rowOf({ account, sequence, seenAt, task }: Delivery): TaskRow {
  const dates = [task.startDate, task.endDate].map((text) => ({ text, value: localTime(text) }));
  return {
    values: [
      ...[account, task.kind, task.id].map(storable),
      sequence,
      ...[task.status, task.title, task.description].map(storable),
      task.isCompleted,
      task.isGone,
      ...dates.map(({ value }) => value),
      task.parentId === undefined ? null : storable(task.parentId),
      seenAt.toISOString(),
    ],
    unreadable: dates.flatMap(({ text, value }) => (text === undefined || value !== null ? [] : [text])),
  };
}

/** Of all characters, Postgres cannot keep this one. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/**
 * A date-time as a timestamp without time zone: what stands there, as the contract has it, without an offset. One with an
 * offset, which the contract does not have, is taken to UTC. Null for anything that is no date.
 */
export function localTime(text: string | undefined): string | null {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(
    text?.trim() ?? '',
  );
  const [, day = '', time = '00:00:00', offset] = parts ?? [];
  const atUtc = new Date(`${day}T${time.length === 5 ? `${time}:00` : time}Z`);
  // Node reads the 30th of February as a day in March.
  if (parts === null || Number.isNaN(atUtc.getTime()) || !atUtc.toISOString().startsWith(day)) return null;
  if (day.startsWith('0000')) return null; // there is no such year in Postgres
  return offset === undefined ? `${day} ${time}` : asUtc(`${day}T${time}${withColon(offset)}`);
}

function asUtc(text: string): string | null {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at.toISOString().replace('T', ' ').replace('Z', '');
}

function withColon(offset: string): string {
  return /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;
}
