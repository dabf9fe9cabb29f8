/**
 * Which list of an answer is the list of records. The contract shows no list's body, so it may be the answer itself, its
 * `content`, or a deeper member of any name. Pure, and the same for a decoded answer (decode.ts) and for one that is still
 * arriving (list-stream.ts). If two lists fit equally well, none is chosen: the caller reports it, and the settings decide
 * (`dialect.listPath`).
 */
import type { Kind } from '../../contract/kinds.ts';
import type { Dialect } from '../call/dialect.ts';

/**
 * What may be the list: an array that is empty or whose first element is an object, or an object of records whose keys are
 * numbers, as PHP writes a list with gaps (`{"0":{…},"2":{…}}`), or ids. Reached through objects only.
 */
export interface ListSpot {
  readonly path: readonly string[];
  readonly holds: 'nothing' | 'records' | 'objects without ids';
}

/** How many objects deep a list may be. */
export const MAX_LIST_DEPTH = 6;

const OWN_NAMES: Readonly<Record<Kind, readonly string[]>> = {
  contacts: ['contacts'],
  customers: ['customers', 'clients'],
  orders: ['orders'],
  tasks: ['tasks'],
  subtasks: ['subtasks', 'taskitems'],
  pipelines: ['pipelines', 'boards'],
};
const COMMON_NAMES = ['content', 'data', 'items', 'records', 'results', 'result', 'rows', 'list'];
/** Lists with these names describe the answer, even if their elements have ids. */
const NEVER_RECORDS = new Set(['error', 'errors']);
const ENVELOPE_MEMBERS = new Set(['content', 'data', 'result']);

/** True if an array at this path may hold the records. */
export function mayHoldRecords(path: readonly string[]): boolean {
  return path.length <= MAX_LIST_DEPTH && !NEVER_RECORDS.has(nameOf(path));
}

/**
 * The index of the spot that holds the records of `kind`; undefined if there is none or if it is ambiguous. Objects
 * without ids are never chosen: at the path of the records they are records whose id has an unknown name, and neither an
 * empty list beside them nor a list of something else may be used instead.
 */
export function chooseList(spots: readonly ListSpot[], kind: Kind): number | undefined {
  const named = spots.flatMap(({ path, holds }, index): Named[] => {
    const rank = rankOf(path, kind);
    return rank === undefined ? [] : [{ ...rank, index, holds, depth: path.length }];
  });
  // An empty list under a fitting name wins over a non-empty list under another name: past the last page the list is empty
  // while a list beside it, such as the owners, is not.
  const compare = (a: Named, b: Named) =>
    Number(b.holds === 'records') - Number(a.holds === 'records') ||
    Number(b.own) - Number(a.own) ||
    Number(a.holds === 'nothing') - Number(b.holds === 'nothing') ||
    a.depth - b.depth ||
    a.order - b.order;
  const [best, next] = named.sort(compare);
  if (best !== undefined) {
    const isTie = next !== undefined && best.holds === 'records' && compare(best, next) === 0;
    return isTie || best.holds === 'objects without ids' ? undefined : best.index;
  }
  const full = spots.flatMap(({ holds }, index) => (holds === 'records' ? [index] : []));
  if (full.length > 0) return full.length === 1 ? full[0] : undefined;
  const empty = spots.findIndex(({ holds }) => holds === 'nothing');
  return empty < 0 ? undefined : empty;
}

/** True if the array at this path has a name for records, or is the answer itself. */
export function isCalledRecords(path: readonly string[], kind: Kind): boolean {
  return rankOf(path, kind) !== undefined;
}

/** The explicit path to the list; undefined if it is detected. `$` and an empty text mean the answer itself. */
export function explicitPath(dialect: Dialect, kind: Kind): readonly string[] | undefined {
  const setting = dialect.listPath[kind];
  if (setting === 'auto') return undefined;
  return setting.split('.').filter((part) => part !== '' && part !== '$');
}

/** The paths an explicit path may mean: `content.items` is `items` once the envelope is off. */
export function spellingsOf(path: readonly string[]): readonly (readonly string[])[] {
  const [first, ...rest] = path;
  return first !== undefined && ENVELOPE_MEMBERS.has(first) ? [path, rest] : [path];
}

interface Rank {
  /** Under the kind's own name, or the answer itself. */
  readonly own: boolean;
  readonly order: number;
}

interface Named extends Rank {
  readonly index: number;
  readonly holds: ListSpot['holds'];
  readonly depth: number;
}

function rankOf(path: readonly string[], kind: Kind): Rank | undefined {
  if (path.length === 0) return { own: true, order: 0 };
  const name = nameOf(path);
  const own = OWN_NAMES[kind].indexOf(name);
  if (own >= 0) return { own: true, order: own };
  const order = COMMON_NAMES.indexOf(name);
  return order >= 0 ? { own: false, order } : undefined;
}

function nameOf(path: readonly string[]): string {
  return path.at(-1)?.toLowerCase() ?? '';
}
