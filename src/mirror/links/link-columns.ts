/** Which columns of a CSV hold the task and its item: from `--map`, otherwise by their names. */
import type { LockstepError } from '../../base/errors.ts';
import { ambiguous, listColumns, UnclearFile } from '../../csv/column-errors.ts';
import { columnIndex, type Header, refuseDuplicates } from '../../csv/column-names.ts';
import { plainWords } from '../../csv/words.ts';

export const LINK_FIELDS = ['task_id', 'item_id'] as const;
export type LinkField = (typeof LINK_FIELDS)[number];

export interface LinkColumn {
  /** From 0. */
  readonly index: number;
  readonly name: string;
}

export type LinkColumns = Readonly<Record<LinkField, LinkColumn>>;

/** In English, German, Spanish and French, normalised by `plainWords`. */
const SYNONYMS: Readonly<Record<LinkField, readonly string[]>> = {
  task_id: listed(`task id, task, task no, task nr, task number, taskid, source, source id, subtask, subtask id, card,
    card id, lockstep id, lockstep task, aufgabe, aufgaben id, aufgabe id, aufgabennummer, tarea, id tarea, id de tarea,
    tache, id tache`),
  item_id: listed(`item id, item, itemid, issue, issue id, issue key, issue no, issue number, issue url, key, url, link,
    address, ticket, ticket id, ticket key, external id, outside id, outside item, github, github issue, jira, jira key,
    jira issue, linear, linear issue, asana, asana task, todoist, todoist task, vorgang, vorgangsschlussel, adresse,
    incidencia, enlace, lien`),
};

function listed(words: string): readonly string[] {
  return words.split(/,\s+/);
}

/** A name that fits both fields: it is used for the field that no other column fills, first for the task. */
const EITHER = 'id';

/** Throws CSV_DUPLICATE_HEADER, CSV_UNKNOWN_COLUMN, CSV_COLUMNS_AMBIGUOUS or CSV_NO_LINK_COLUMN, exit code 2. */
export function mapLinkColumns(header: Header, told: ReadonlyMap<LinkField, string>): LinkColumns {
  if (header.isGiven) refuseDuplicates(header, () => true);
  const found = new Map<LinkField, LinkColumn>();
  for (const [field, column] of told) {
    const index = columnIndex(header, `--map ${field}=${column}`, column);
    found.set(field, { index, name: header.names[index] ?? '' });
  }
  if (header.isGiven) recogniseAll(header, found);
  const [task, item] = LINK_FIELDS.map((field) => found.get(field));
  if (task === undefined || item === undefined) throw missing(header, found);
  if (task.index !== item.index) return { task_id: task, item_id: item };
  throw new UnclearFile(
    'CSV_COLUMNS_AMBIGUOUS',
    `Line ${header.line}: ${listColumns([task.name])} cannot be both the task and its item.`,
    'Name two columns with --map.',
  );
}

function recogniseAll(header: Header, found: Map<LinkField, LinkColumn>): void {
  const isTaken = (at: number) => [...found.values()].some(({ index }) => index === at);
  const columns = header.names.map((name, index) => ({ name, index, words: plainWords(name) }));
  const open = (field: LinkField, words: readonly string[]) =>
    found.has(field) ? [] : columns.filter((column) => words.includes(column.words) && !isTaken(column.index));
  for (const field of LINK_FIELDS) {
    const exact = open(field, [plainWords(field)]);
    const [column, ...rivals] = exact.length > 0 ? exact : open(field, SYNONYMS[field]);
    if (column && rivals.length > 0)
      throw ambiguous(
        field,
        [column, ...rivals].map(({ name }) => name),
        header.line,
      );
    if (column) found.set(field, column);
  }
  for (const field of LINK_FIELDS) {
    const [column] = open(field, [EITHER]);
    if (column) found.set(field, column);
  }
}

function missing({ names, isGiven }: Header, found: ReadonlyMap<LinkField, LinkColumn>): LockstepError {
  const fields = LINK_FIELDS.filter((field) => !found.has(field));
  const need = `A link needs its ${fields.map((field) => NOUNS[field]).join(' and its ')}`;
  if (!isGiven) {
    const statement = `${need}, but the file has no header. Add a first line with task_id and item_id.`;
    return new UnclearFile('CSV_NO_LINK_COLUMN', statement, 'Or name the columns: --map task_id=1 --map item_id=2.');
  }
  return new UnclearFile(
    'CSV_NO_LINK_COLUMN',
    `${need}, but none of the columns ${listColumns(names)} looks like it.`,
    `Name the column, as in --map ${fields[0]}=Column.`,
  );
}

const NOUNS: Readonly<Record<LinkField, string>> = { task_id: 'task (task_id)', item_id: 'item (item_id)' };
