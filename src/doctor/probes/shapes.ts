/** Where each kind's list stands in its answer, and which member of a record is its id, checked by reading one by it. */
import { recordIn } from '../../client/decode.ts';
import { idOf, KINDS, type Kind, toWireId } from '../../client/dialect.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Look } from '../caller.ts';
import { likelyIdName, listPlaces, pathText } from '../find-list.ts';
import type { ListSeen } from '../lists.ts';
import { type Examination, type Finding, nothingToSee, type Probe, settingOf } from '../probe.ts';
import { listed, whyNot } from '../words.ts';

const PLACE_DOES = 'reads the list there';
const ID_DOES = 'takes it for the id; 7 and "7" are the same';

export const shapes: Probe = { name: 'the lists and ids', gaps: ['list-place', 'record-id'], access: 'reads', run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const kind of KINDS) {
    const seen = await exam.list(kind);
    if (seen.look === undefined)
      findings.push(nothingToSee('list-place', kind, PLACE_DOES), nothingToSee('record-id', kind, ID_DOES));
    else if (seen.prefix !== undefined)
      findings.push(placeOf(exam, seen, seen.look), await idOfKind(exam, seen, seen.look));
  }
  return findings;
}

function placeOf({ account }: Examination, { kind, found }: ListSeen, look: Look): Finding {
  const gap = 'list-place';
  if (found === undefined) {
    const places = look.json === undefined ? [] : listPlaces(look.json);
    const within = `accounts.${account.name}.dialect.listPath.${kind}`;
    const choice = places.length > 1 ? `: it may be ${listed(places)}` : '';
    const needs = look.outcome.status === 'applied' ? `name the list in ${within}` : undefined;
    const does = 'reports that it finds no list, and does not take it for empty';
    return {
      gap,
      about: kind,
      found: `${whyNot(look)}${choice}`,
      sure: 'unknown',
      does,
      ...(needs !== undefined && { needs }),
    };
  }
  const path = pathText(found.path);
  const where = path === '$' ? 'the answer itself is the list' : path;
  if (found.records.length === 0) {
    return { gap, about: kind, found: `${where}, empty so far`, sure: 'likely', does: PLACE_DOES };
  }
  const setting = settingOf(account, `dialect.listPath.${kind}`, path);
  return { gap, about: kind, found: where, sure: 'certain', does: PLACE_DOES, setting };
}

async function idOfKind(exam: Examination, seen: ListSeen, look: Look): Promise<Finding> {
  const { kind, found } = seen;
  const gap = 'record-id';
  if (found === undefined || found.records.length === 0 || found.idName === undefined) {
    const name = look.json === undefined ? undefined : likelyIdName(look.json);
    if (name === undefined) return nothingToSee(gap, kind, ID_DOES);
    const needs = `set accounts.${exam.account.name}.dialect.idField.${kind} to ${name}, if that is the id`;
    return {
      gap,
      about: kind,
      found: `none by a usual name; perhaps ${name}`,
      sure: 'likely',
      does: 'finds no id',
      needs,
    };
  }
  const [record] = found.records;
  const type = typeof record?.[found.idName] === 'string' ? 'text' : 'a number';
  const areDistinct = found.ids.length === found.records.length && new Set(found.ids).size === found.ids.length;
  const isConfirmed = await isConfirmedByGet(exam, seen, found.ids[0]);
  const isCertain = areDistinct && (isConfirmed === true || (isConfirmed === undefined && found.ids.length > 1));
  const doubt = areDistinct ? 'a get by it shows another record or none' : 'two records share one';
  return {
    gap,
    about: kind,
    found: `${found.idName}, ${type}${isConfirmed === true ? '; a get by it shows the record' : ''}${isCertain || found.ids.length < 2 ? '' : `; but ${doubt}`}`,
    sure: isCertain ? 'certain' : 'likely',
    does: ID_DOES,
    ...(isCertain && { setting: settingOf(exam.account, `dialect.idField.${kind}`, found.idName) }),
  };
}

const GETS: Readonly<Partial<Record<Kind, readonly [operation: OperationName, param: string]>>> = {
  contacts: ['contacts.get', 'contact_id'],
  customers: ['customers.get', 'id'],
  orders: ['orders.get', 'id'],
  tasks: ['tasks.get', 'id'],
  pipelines: ['pipelines.get', 'pipeline_id'],
};

/** Undefined where the kind has no get. */
async function isConfirmedByGet(
  { calls, account }: Examination,
  { kind, prefix }: ListSeen,
  id: string | undefined,
): Promise<boolean | undefined> {
  const get = GETS[kind];
  if (get === undefined || id === undefined) return undefined;
  const query = { [get[1]]: toWireId(id) };
  const { outcome } = await calls.look(get[0], { query, ...(prefix !== undefined && { prefix }) });
  if (outcome.status !== 'applied') return false;
  return idOf(recordIn(outcome.content, account.dialect, kind), kind, account.dialect) === id;
}
