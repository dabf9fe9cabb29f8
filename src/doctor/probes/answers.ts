/** What stands around an answer: the envelope and its words, what only_body does, and how a record that never was is refused. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type Kind, toWireId } from '../../client/dialect.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Look } from '../caller.ts';
import type { ListSeen } from '../lists.ts';
import { readAgain } from '../lists.ts';
import type { Examination, Finding, Probe } from '../probe.ts';
import { answerWords, bodyWords, listed } from '../words.ts';

export const envelope: Probe = {
  name: 'the envelope',
  gaps: ['envelope-values', 'only-body'],
  access: 'reads',
  async run(exam) {
    const list = await exam.list('contacts');
    if (list.look?.outcome.status !== 'applied') return [];
    return [envelopeOf(list.look), await onlyBody(exam, list)];
  },
};

export const errors: Probe = {
  name: 'how errors look',
  gaps: ['errors'],
  access: 'reads',
  async run(exam) {
    const findings: Finding[] = [];
    for (const [kind, operation, param] of ABSENT) {
      const look = await readAbsent(exam, await exam.list(kind), operation, param);
      if (look !== undefined) findings.push(errorOf(kind, look));
    }
    return findings;
  },
};

const ABSENT: readonly (readonly [kind: Kind, operation: OperationName, param: string])[] = [
  ['contacts', 'contacts.get', 'contact_id'],
  ['orders', 'orders.get', 'id'],
];
/** Within 32 bits, so that it is a number nobody has and not one that cannot be. */
const NOBODYS_ID = 2_147_483_646;

function envelopeOf({ json }: Look): Finding {
  const gap = 'envelope-values';
  const does = 'understands words, booleans and numbers as status, with or without an envelope';
  if (!isJsonObject(json)) return { gap, found: 'no envelope: the list is the answer', sure: 'certain', does };
  const status = ['status', 'success', 'ok', 'code'].find((name) => Object.hasOwn(json, name));
  const says = status === undefined ? '' : `; ${status} is ${JSON.stringify(json[status]).slice(0, 40)} in a success`;
  return { gap, found: `the members ${listed(Object.keys(json).slice(0, 8))}${says}`, sure: 'certain', does };
}

async function onlyBody(exam: Examination, list: ListSeen): Promise<Finding> {
  const gap = 'only-body';
  const does = 'does not ask for it, and needs no envelope';
  const { look } = await readAgain(exam, list, {
    only_body: true,
    [exam.account.dialect.pageParam]: 0,
    [exam.account.dialect.rowsPerPageParam]: 1,
  });
  if (look.outcome.status !== 'applied') return { gap, found: answerWords(look), sure: 'certain', does };
  return { gap, about: 'contacts', found: `only_body=true answers ${bodyWords(look)}`, sure: 'certain', does };
}

async function readAbsent(
  { calls }: Examination,
  { prefix, found }: ListSeen,
  operation: OperationName,
  param: string,
): Promise<Look | undefined> {
  if (prefix === undefined) return undefined;
  const isNumber = found?.ids.every((id) => typeof toWireId(id) === 'number') ?? true;
  return calls.look(operation, { prefix, query: { [param]: isNumber ? NOBODYS_ID : randomUUID() } });
}

function errorOf(kind: Kind, look: Look): Finding {
  const { outcome } = look;
  const does = {
    refused: 'takes it for a refusal: nothing was changed',
    applied: 'takes it for an answer without a record',
    unknown: 'takes it for no answer: asks again, and reads back what it wrote',
    limited: 'waits, and asks again',
    'not-sent': 'asks again',
  }[outcome.status];
  const found = `a record that does not exist is answered ${answerWords(look)}`;
  return { gap: 'errors', about: kind, found, sure: httpSure(look), does };
}

function httpSure({ outcome }: Look): Finding['sure'] {
  return outcome.status === 'refused' || outcome.status === 'applied' ? 'certain' : 'likely';
}
