/**
 * Creates a test task and checks whether it is open, which method completes it, and whether its description keeps
 * hidden marks.
 */
import { flagOf, idOf, toWireId } from '../../../client/call/dialect.ts';
import type { JsonObject } from '../../../client/call/json.ts';
import { answerWords } from '../answer-words.ts';
import { getById, type ListSeen, readAgain, recordFrom } from '../lists.ts';
import { certain, type Examination, type Finding, likely, type Probe, settingOf, unknown } from '../probe.ts';
import { leave, lookFor, mayHaveWritten, patienceMs, stopIfKeyRefused, testName } from '../test-records.ts';

const METHOD = 'complete-method';
const GAPS = [METHOD, 'completion-default', 'hidden-marker'] as const;
const ZERO_WIDTH = '\u200b\u200c\u200d\u200b';
const MAX_PAGE = 4_096;

export const writeTask: Probe = { name: 'how tasks are completed', gaps: GAPS, run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const { account, calls, marker } = exam;
  const list = await exam.list('tasks');
  const comment = `<!-- lockstep:${marker} -->`;
  const description = `<p>Made by lockstep doctor, safe to delete.${ZERO_WIDTH}</p>${comment}`;
  const body = { taskName: testName(marker), description };
  const look = await calls.look('tasks.create', { body, prefix: list.prefix });
  stopIfKeyRefused(exam, look);
  const untried = (why: string) => [
    unknown(METHOD, `not tried: ${why}`, 'completes tasks by the method in the settings'),
  ];
  if (!mayHaveWritten(look)) return untried(`answer to the create: ${answerWords(look)}`);
  leave(exam, 'tasks');
  const told = idOf(recordFrom(look, 'tasks', account), 'tasks', account.dialect);
  const id = told ?? (await lookFor(exam, patienceMs(exam), () => findTask(exam, list)))?.found;
  if (id === undefined) return untried('the list did not show the new task');
  leave(exam, 'tasks', id);
  const read = async () => recordFrom(await getById(calls, 'tasks', list, toWireId(id)), 'tasks', account);
  const task = (await lookFor(exam, patienceMs(exam), read))?.found;
  return [...freshTask(task, comment), await completion(exam, list, id, read)];
}

function freshTask(task: JsonObject | undefined, comment: string): readonly Finding[] {
  if (task === undefined) return [];
  const isCompleted = flagOf(task.isCompleted);
  const state = isCompleted === undefined ? 'without a readable flag' : isCompleted ? 'completed' : 'open';
  const text = typeof task.description === 'string' ? task.description : '';
  const keeps = [text.includes(comment) && 'an HTML comment', text.includes(ZERO_WIDTH) && 'zero-width letters'].filter(
    Boolean,
  );
  const marks = keeps.length === 0 ? 'neither an HTML comment nor zero-width letters' : keeps.join(' and ');
  return [
    certain('completion-default', `a new task is ${state}`, 'reads the flag of each task'),
    certain('hidden-marker', `a description keeps ${marks}`, 'does not change descriptions'),
  ];
}

async function completion(
  exam: Examination,
  { prefix }: ListSeen,
  id: string,
  read: () => Promise<JsonObject | undefined>,
): Promise<Finding> {
  const answers: string[] = [];
  for (const completeMethod of ['PUT', 'GET'] as const) {
    const path = { task_id: toWireId(id) };
    const look = await exam.calls.look('tasks.complete', { completeMethod, path, body: { isCompleted: true }, prefix });
    answers.push(`${completeMethod} ${answerWords(look)}`);
    const withinMs = mayHaveWritten(look) ? patienceMs(exam) : 0;
    const isDone = async () => flagOf((await read())?.isCompleted) || undefined;
    if ((await lookFor(exam, withinMs, isDone)) === undefined) continue;
    const setting = settingOf(exam.account, 'dialect.completeMethod', completeMethod);
    const before = completeMethod === 'GET' ? '; PUT does not' : '';
    const found = `${completeMethod} completes a task${before}`;
    return certain(METHOD, found, `completes tasks by ${completeMethod}`, { setting });
  }
  const needs = 'ask the service’s operator how a task is completed';
  return likely(METHOD, `neither method completed it: ${answers.join('; ')}`, 'cannot complete tasks', { needs });
}

/** On the first page if lists begin with the newest record, otherwise on the last, which is found by doubling and halving. */
async function findTask(exam: Examination, list: ListSeen): Promise<string | undefined> {
  const { dialect } = exam.account;
  const page = async (number: number) => (await readAgain(exam, list, { [dialect.pageParam]: number })).found;
  const ours = (records: readonly JsonObject[] = []) =>
    idOf(
      records.find(({ taskName }) => String(taskName).includes(exam.marker)),
      'tasks',
      dialect,
    );
  const zero = await page(0);
  const first = zero === undefined || zero.records.length === 0 ? await page(1) : zero; // pages may start at 1
  const onFirst = ours(first?.records);
  if (onFirst !== undefined) return onFirst;
  const isFull = async (number: number) => {
    const { ids = [] } = (await page(number)) ?? {};
    return ids.length > 0 && ids[0] !== first?.ids[0];
  };
  let [low, high] = [1, 2];
  while (high <= MAX_PAGE && (await isFull(high))) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await isFull(middle)) low = middle;
    else high = middle;
  }
  return ours((await page(low))?.records);
}
