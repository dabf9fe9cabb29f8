/** How contacts.search matches: it is called with a part of a known contact's e-mail address or name. */
import type { JsonObject } from '../../../client/call/json.ts';
import { whyNot } from '../answer-words.ts';
import { listFrom } from '../lists.ts';
import { certain, type Examination, type Finding, nothingToSee, type Probe, unknown } from '../probe.ts';

const GAP = 'search-match';
const DOES = 'uses a search only as a hint, and compares the records itself';
const FIELDS = ['email', 'first_name', 'last_name', 'phone'] as const;
const SHORTEST = 4;

export const search: Probe = { name: 'the search', gaps: [GAP], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const { found, prefix } = await exam.list('contacts');
  const known = someKnown(found?.records ?? []);
  if (known === undefined) return [nothingToSee(GAP, 'contacts', DOES)];
  const finds = async (term: string): Promise<boolean | string> => {
    const look = await exam.calls.look('contacts.search', { query: { search_term: term }, prefix });
    const list = listFrom(look, 'contacts', exam.account);
    if (list === undefined) return whyNot(look);
    return list.records.some((record) => record[known.field] === known.value);
  };
  const about = known.field;
  const inner = await finds(swapCase(known.value.slice(1, -1)));
  if (typeof inner === 'string') return [unknown(GAP, inner, DOES)];
  if (inner) return [certain(GAP, 'found by a part of it, in upper or lower case', DOES, { about })];
  const isFound = (await finds(known.value)) === true;
  return [
    certain(
      GAP,
      isFound ? 'found only by the whole value, or only in the same case' : 'not found by this field',
      DOES,
      { about },
    ),
  ];
}

function someKnown(records: readonly JsonObject[]): { field: string; value: string } | undefined {
  for (const record of records) {
    for (const field of FIELDS) {
      const value = record[field];
      if (typeof value === 'string' && value.trim() === value && value.length >= SHORTEST + 2) return { field, value };
    }
  }
  return undefined;
}

function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}
