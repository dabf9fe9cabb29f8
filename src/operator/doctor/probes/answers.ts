/** The envelope of an answer, the effect of only_body, and the answer for a record that does not exist. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, toWireId } from '../../../client/call/dialect.ts';
import type { Kind } from '../../../contract/kinds.ts';
import { answerWords, bodyWords, inWords } from '../answer-words.ts';
import type { Look } from '../caller.ts';
import { getById, type ListSeen, readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, likely, type Probe } from '../probe.ts';

export const envelope: Probe = {
  name: 'the envelope',
  gaps: ['envelope-values', 'only-body'],
  async run(exam) {
    const list = await exam.list('contacts');
    if (list.look?.outcome.status !== 'applied') return [];
    return [envelopeOf(list.look), await onlyBody(exam, list)];
  },
};

export const errors: Probe = {
  name: 'how errors look',
  gaps: ['errors'],
  async run(exam) {
    const findings: Finding[] = [];
    for (const kind of ['contacts', 'orders'] as const) {
      const list = await exam.list(kind);
      if (list.prefix === undefined) continue;
      const isNumber = list.found?.ids.every((id) => typeof toWireId(id) === 'number') ?? true;
      findings.push(errorOf(kind, await getById(exam.calls, kind, list, isNumber ? UNUSED_ID : randomUUID())));
    }
    return findings;
  },
};

/** A valid 32-bit id that no record has. */
const UNUSED_ID = 2_147_483_646;

function envelopeOf({ json }: Look): Finding {
  const gap = 'envelope-values';
  const does = 'understands words, booleans and numbers as the status, with or without an envelope';
  if (!isJsonObject(json)) return certain(gap, 'no envelope: the list is the answer', does);
  const status = ['status', 'success', 'ok', 'code'].find((name) => Object.hasOwn(json, name));
  const says = status === undefined ? '' : `; ${status} is ${JSON.stringify(json[status]).slice(0, 40)} in a success`;
  return certain(gap, `the members ${inWords(Object.keys(json).slice(0, 8))}${says}`, does);
}

async function onlyBody(exam: Examination, list: ListSeen): Promise<Finding> {
  const gap = 'only-body';
  const does = 'does not send it, and works with and without an envelope';
  const { pageParam, rowsPerPageParam } = exam.account.dialect;
  const { look } = await readAgain(exam, list, { only_body: true, [pageParam]: 0, [rowsPerPageParam]: 1 });
  if (look.outcome.status !== 'applied') return certain(gap, answerWords(look), does);
  return certain(gap, `answer with only_body=true: ${bodyWords(look)}`, does, { about: 'contacts' });
}

function errorOf(about: Kind, look: Look): Finding {
  const { status } = look.outcome;
  const does = {
    refused: 'treats it as a refusal: nothing was changed',
    applied: 'treats it as an answer without a record',
    unknown: 'treats it as a missing answer: repeats reads, and reads back what it wrote',
    limited: 'waits, and repeats the call',
    'not-sent': 'repeats the call',
  }[status];
  const find = status === 'refused' || status === 'applied' ? certain : likely;
  return find('errors', `answer for a record that does not exist: ${answerWords(look)}`, does, { about });
}
