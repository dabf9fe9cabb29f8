/** The statements of a Postgres target, with the quoted name of its table. Pure. */
import type { Delivery } from '../../../contract/target.ts';

export interface TaskTable {
  /** Quoted, with its schema. */
  readonly name: string;
  /** The schema, quoted. */
  readonly schema: string;
  /** The columns of its key: one row per task, or one per version of a task. */
  readonly key: string;
  /** What its user needs: the rows of a history are never changed. */
  readonly rights: string;
  /** Creates the table if it is missing, but not its schema. Short enough for a message. */
  readonly create: string;
  /**
   * Writes one task unless the table has the same or a newer state of it; with a history, one version unless the table has
   * it. Its values are those of `rowOf`. Returns one row: `written` is the number of rows written, `sequence` is the stored
   * one before.
   */
  readonly upsert: string;
  /** Returns the stored sequence, for the values of the key. */
  readonly findStored: string;
  /** Returns the columns that the table lacks, each as `name type`, in one row. */
  readonly findMissing: string;
  /** Without `delivered_at`. */
  readonly columns: readonly Column[];
}

type Column = readonly [name: string, type: string, value: (delivery: Delivery) => unknown];

/** Column, type and value, in the order of the table. */
const COLUMNS: readonly Column[] = [
  ['account', 'text', ({ account }) => storable(account)],
  ['kind', 'text', ({ task }) => task.kind],
  ['task_id', 'text', ({ task }) => storable(task.id)],
  ['sequence', 'bigint', ({ sequence }) => sequence],
  ['status', 'text', ({ task }) => storable(task.status)],
  ['title', 'text', ({ task }) => storable(task.title)],
  ['description', 'text', ({ task }) => storable(task.description)],
  ['is_completed', 'boolean', ({ task }) => task.isCompleted],
  ['is_gone', 'boolean', ({ task }) => task.isGone],
  ['start_date', 'timestamp', ({ task }) => localTime(task.startDate)],
  ['end_date', 'timestamp', ({ task }) => localTime(task.endDate)],
  ['parent_id', 'text', ({ task }) => (task.parentId === undefined ? null : storable(task.parentId))],
  ['seen_at', 'timestamptz', ({ seenAt }) => seenAt.toISOString()],
];
/** Only in a history. */
const EVENT: Column = ['event', 'text', ({ event }) => event];
const DELIVERED_AT = 'delivered_at timestamptz';

/** `name`: `schema.table`, or a table in public. */
export function taskTable(name: string, { history = false }: { readonly history?: boolean } = {}): TaskTable {
  const [first = '', second] = name.split('.');
  const [schema, table] = second === undefined ? ['public', first] : [first, second];
  const quoted = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
  const columns = history ? [...COLUMNS, EVENT] : COLUMNS;
  const names = columns.map(([column]) => column);
  const typed = [...columns.map(([column, type]) => `${column} ${type}`), DELIVERED_AT];
  const taskKey = 'account, kind, task_id';
  const key = history ? `${taskKey}, sequence` : taskKey;
  const changing = names.slice(3).map((column) => `${column} = excluded.${column}`);
  const onConflict = history
    ? 'do nothing'
    : `do update set ${changing.join(', ')}, delivered_at = excluded.delivered_at where excluded.sequence > t.sequence`;
  const findStored = `select max(sequence)::text as sequence from ${quoted}
    where account = $1 and kind = $2 and task_id = $3 ${history ? 'and sequence = $4' : ''}`;
  return {
    name: quoted,
    schema: quoteIdentifier(schema),
    key,
    rights: history ? 'select, insert' : 'select, insert, update',
    findStored,
    create: `create table if not exists ${quoted} (${typed.join(', ')}, primary key (${key}))`,
    upsert: `with written as (
        insert into ${quoted} as t (${names.join(', ')}, delivered_at)
        values (${names.map((_, i) => `$${i + 1}`).join(', ')}, clock_timestamp())
        on conflict (${key}) ${onConflict}
        returning 1)
      select (select count(*)::int from written) as written, (${findStored}) as sequence`,
    findMissing: `select array(select wanted from unnest('{${typed.join(',')}}'::text[]) with ordinality w (wanted, n)
      where split_part(wanted, ' ', 1) not in (select attname from pg_attribute
        where attrelid = to_regclass('${quoted.replaceAll("'", "''")}') and attnum > 0 and not attisdropped)
      order by n) as missing`,
    columns,
  };
}

/** Quoted, so that Postgres reads exactly this name, with its case, quotes and spaces. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export interface TaskRow {
  readonly values: readonly unknown[];
  /** Texts that are not dates, as the service wrote them: their columns are null. */
  readonly unreadable: readonly string[];
}

export function rowOf({ columns }: TaskTable, delivery: Delivery): TaskRow {
  const dates = [delivery.task.startDate, delivery.task.endDate].filter((text) => text !== undefined);
  return {
    values: columns.map(([, , value]) => value(delivery)),
    unreadable: dates.filter((text) => localTime(text) === null),
  };
}

/** The one character that Postgres cannot store. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/**
 * A date-time as a timestamp without time zone: the contract's date-times have no offset and are used unchanged. A date-time
 * with an offset is converted to UTC. Null for anything that is not a date.
 */
export function localTime(text: string | undefined): string | null {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(
    text?.trim() ?? '',
  );
  const [, day = '', time = '00:00:00', offset] = parts ?? [];
  const atUtc = new Date(`${day}T${time.length === 5 ? `${time}:00` : time}Z`);
  // Node reads February 30 as a day in March.
  if (parts === null || Number.isNaN(atUtc.getTime()) || !atUtc.toISOString().startsWith(day)) return null;
  if (day.startsWith('0000')) return null; // Postgres has no such year
  return offset === undefined ? `${day} ${time}` : asUtc(`${day}T${time}${withColon(offset)}`);
}

function asUtc(text: string): string | null {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at.toISOString().replace('T', ' ').replace('Z', '');
}

function withColon(offset: string): string {
  return /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;
}
