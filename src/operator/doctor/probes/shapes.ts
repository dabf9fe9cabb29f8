/**
 * The path of each kind's list in its answer, and the member of a record that is its id. The id is checked by reading a
 * record with it.
 */
import { idOf, toWireId } from '../../../client/call/dialect.ts';
import type { Json } from '../../../client/call/json.ts';
import { KINDS, type Kind } from '../../../contract/kinds.ts';
import { inWords, whyNot } from '../answer-words.ts';
import type { Look } from '../caller.ts';
import { likelyIdName, listPaths, pathOfKeyed, pathText } from '../find-list.ts';
import { getById, isGettable, type ListSeen, recordFrom } from '../lists.ts';
import {
  certain,
  type Examination,
  type Finding,
  likely,
  nothingToSee,
  type Probe,
  settingOf,
  unknown,
} from '../probe.ts';
import type { ProbedAccount } from '../probed-account.ts';

const PATH_DOES = 'reads the list at this path';
const ID_DOES = 'uses it as the id; 7 and "7" are the same';

export const shapes: Probe = { name: 'the lists and ids', gaps: ['list-place', 'record-id'], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const kind of KINDS) {
    const seen = await exam.list(kind);
    if (seen.look === undefined)
      findings.push(nothingToSee('list-place', kind, PATH_DOES), nothingToSee('record-id', kind, ID_DOES));
    else if (seen.prefix !== undefined)
      findings.push(listPathOf(exam, seen, seen.look), await idOfKind(exam, seen, seen.look));
  }
  return findings;
}

function listPathOf({ account }: Examination, { kind: about, found }: ListSeen, look: Look): Finding {
  const gap = 'list-place';
  if (found === undefined) {
    const paths = listPaths(look.json);
    const choice = paths.length > 1 ? `: it may be ${inWords(paths)}` : '';
    const needs = look.outcome.status === 'applied' ? remedyFor(look.json, account, about) : undefined;
    const does = 'reports that it finds no list, and does not treat it as empty';
    return unknown(gap, `${whyNot(look)}${choice}`, does, { about, needs });
  }
  const path = pathText(found.path);
  const where = path === '$' ? 'the whole answer is the list' : path;
  if (found.records.length === 0) return likely(gap, `${where}, empty so far`, PATH_DOES, { about });
  return certain(gap, where, PATH_DOES, { about, setting: settingOf(account, `dialect.listPath.${about}`, path) });
}

function remedyFor(json: Json | undefined, account: ProbedAccount, about: Kind): string {
  const dialect = `accounts.${account.name}.dialect`;
  if (json === undefined)
    return 'create a record and run the doctor again; if the list still has no body, check the account’s url and prefix';
  const path = pathOfKeyed(json);
  if (path === undefined) return `set ${dialect}.listPath.${about} to the path of the list`;
  return `set ${dialect}.idField.${about} to $key if the keys of the object at ${path} are the ids, or to the name of the member with the id`;
}

async function idOfKind(exam: Examination, seen: ListSeen, look: Look): Promise<Finding> {
  const { kind: about, found } = seen;
  const gap = 'record-id';
  const within = `dialect.idField.${about}`;
  if (found?.idName === undefined) {
    const name = likelyIdName(look.json);
    if (name === undefined) return nothingToSee(gap, about, ID_DOES);
    const needs = `set accounts.${exam.account.name}.${within} to ${name}, if that is the id`;
    return likely(gap, `no member has a usual name; perhaps ${name}`, 'finds no id', { about, needs });
  }
  const { idName, ids, records } = found;
  const chosen = exam.account.dialect.idField[about];
  const called = chosen === 'auto' ? idName : chosen;
  const type = typeof records[0]?.[idName] === 'string' ? 'text' : 'a number';
  const areDistinct = ids.length === records.length && new Set(ids).size === ids.length;
  const isConfirmed = await isConfirmedByGet(exam, seen, ids[0]);
  const what = `${called}, ${type}${isConfirmed === true ? '; a get with it returns the record' : ''}`;
  if (areDistinct && (isConfirmed === true || (isConfirmed === undefined && ids.length > 1))) {
    return certain(gap, what, ID_DOES, { about, setting: settingOf(exam.account, within, called) });
  }
  const doubt = areDistinct ? 'a get with it returns another record or none' : 'two records have the same one';
  return likely(gap, ids.length < 2 ? what : `${what}; but ${doubt}`, ID_DOES, { about });
}

/** Undefined if the kind has no get operation. */
async function isConfirmedByGet(
  { calls, account }: Examination,
  list: ListSeen,
  id: string | undefined,
): Promise<boolean | undefined> {
  const { kind } = list;
  if (id === undefined || !isGettable(kind)) return undefined;
  const look = await getById(calls, kind, list, toWireId(id));
  return idOf(recordFrom(look, kind, account), kind, account.dialect) === id;
}
