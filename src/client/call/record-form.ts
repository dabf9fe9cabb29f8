/** What the names of a record's members say about it. Pure. */
import { perKey } from '../../base/per-key.ts';
import type { Kind } from '../../contract/kinds.ts';
import { MEMBER_NAMES } from '../../contract/member-names.ts';
import type { JsonObject } from './json.ts';

/** Cards are in pipelines; no list has them. */
export type Described = Kind | 'cards';

/** Members that hold the fields of a record in JSON:API and its relatives, and in GraphQL; the name of its kind is one, too. */
const WRAPPERS = ['attributes', 'fields', 'properties', '_source', 'data', 'node'];
export const wrappersOf = (kind: Described) => [...WRAPPERS, kind.slice(0, -1)];

export interface Member {
  readonly name: string;
  /** Its position among the names of the field; 0 for the contract's own name. */
  readonly rank: number;
}

/** Most records of a list have the same names. */
export interface Form {
  readonly names: readonly string[];
  /** Whether a member may hold other fields, or links. */
  readonly mayBeNested: boolean;
  /** Whether each field has one member, under the contract's name. */
  readonly isOwn: boolean;
  /** The members that say whether the record is deleted. */
  readonly deletion: readonly string[];
  /** The members that may have each field, the best name first. */
  readonly fields: ReadonlyMap<string, readonly Member[]>;
}

/** By kind of records: the form of the last record, and of others by their names. */
const LAST_FORMS = new Map<Described, Form>();
const FORMS = new Map<string, Form>();
const MOST_FORMS = 1_000;

export function formOfRecord(record: JsonObject, kind: Described): Form {
  const last = LAST_FORMS.get(kind);
  if (last !== undefined && hasNames(record, last.names)) return last;
  const names = Object.keys(record);
  const key = JSON.stringify([kind, ...names]);
  const form = FORMS.get(key) ?? newForm(names, kind);
  if (FORMS.size === MOST_FORMS) FORMS.clear();
  FORMS.set(key, form);
  LAST_FORMS.set(kind, form);
  return form;
}

function newForm(names: readonly string[], kind: Described): Form {
  const fields = fieldsIn(names, kind);
  const isOwn = [...fields].every(([field, members]) => members.length === 1 && members[0]?.name === field);
  const deletion = names.filter((name) => DELETED.test(name));
  return { names, mayBeNested: mayBeNested(names, kind), isOwn, deletion, fields };
}

const DELETED = /^(is[-_]?)?(deleted|removed|trashed)([-_]?(at|on|date|time))?$/i;

function hasNames(record: JsonObject, names: readonly string[]): boolean {
  let at = 0;
  // Records are JSON: they inherit no members.
  for (const name in record) if (name !== names[at++]) return false;
  return at === names.length;
}

function mayBeNested(names: readonly string[], kind: Described): boolean {
  return ['_links', ...wrappersOf(kind)].some((name) => names.includes(name));
}

export function fieldsIn(names: readonly string[], kind: Described): ReadonlyMap<string, readonly Member[]> {
  const known = fieldsOf(kind);
  const found = new Map<string, Member[]>();
  for (const name of names) {
    const { field, rank } = known.get(plain(name)) ?? {};
    if (field === undefined || rank === undefined) continue;
    found.set(field, [...(found.get(field) ?? []), { name, rank }]);
  }
  for (const [field, members] of found)
    members.sort((a, b) => a.rank - b.rank || Number(b.name === field) - Number(a.name === field));
  return found;
}

type FieldName = Pick<Member, 'rank'> & { readonly field: string };

/** The fields of a kind by their plain names. */
export const fieldsOf = perKey((kind: Described): ReadonlyMap<string, FieldName> => {
  const names: Readonly<Record<string, readonly string[]>> = MEMBER_NAMES[kind];
  const fields = new Map<string, FieldName>();
  for (const [field, others] of Object.entries(names)) {
    for (const [at, name] of others.entries()) fields.set(plain(name), { field, rank: at + 1 });
  }
  for (const field of Object.keys(names)) fields.set(plain(field), { field, rank: 0 });
  return fields;
});

/** `order_id`, `orderId` and `Order-ID` are the same name. */
export function plain(name: string): string {
  return name.replace(/[_\- ]/g, '').toLowerCase();
}
