/** With a test task: is it open when it is new, which method completes it, and does its description keep hidden marks? */
import { recordIn } from '../../client/decode.ts';
import { type Dialect, flagOf, idOf, type JsonObject, toWireId } from '../../client/dialect.ts';
import { type ListSeen, readAgain } from '../lists.ts';
import { type Examination, type Finding, type Probe, settingOf } from '../probe.ts';
import { leave, lookFor, mayHaveWritten, patienceMs, stopIfKeyRefused, testName } from '../test-records.ts';
import { answerWords } from '../words.ts';

const GAPS = ['complete-method', 'completion-default', 'hidden-marker'];
const ZERO_WIDTH = '\u200b\u200c\u200d\u200b';
const MAX_PAGE = 4_096;

export const writeTask: Probe = { name: 'how tasks are completed', gaps: GAPS, access: 'writes', run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const list = await exam.list('tasks');
  const comment = `<!-- lockstep:${exam.marker} -->`;
  const description = `<p>Made by lockstep doctor, safe to delete.${ZERO_WIDTH}</p>${comment}`;
  const body = { taskName: testName(exam.marker), description };
  const look = await exam.calls.look('tasks.create', {
    body,
    ...(list.prefix !== undefined && { prefix: list.prefix }),
  });
  stopIfKeyRefused(exam, look);
  const does = 'completes tasks by the method of the settings';
  if (!mayHaveWritten(look)) {
    return [
      {
        gap: 'complete-method',
        found: `not tried: the task was refused with ${answerWords(look)}`,
        sure: 'unknown',
        does,
      },
    ];
  }
  leave(exam, 'tasks');
  const told =
    look.outcome.status === 'applied'
      ? idOf(recordIn(look.outcome.content, exam.account.dialect, 'tasks'), 'tasks', exam.account.dialect)
      : undefined;
  const id = told ?? (await lookFor(exam, patienceMs(exam), () => findTask(exam, list)))?.found;
  if (id === undefined) {
    return [
      { gap: 'complete-method', found: 'not tried: the new task was not seen in the list', sure: 'unknown', does },
    ];
  }
  leave(exam, 'tasks', id);
  const task = (await lookFor(exam, patienceMs(exam), () => readTask(exam, list, id)))?.found;
  return [...freshTask(task, comment), await completion(exam, list, id)];
}

function freshTask(task: JsonObject | undefined, comment: string): readonly Finding[] {
  if (task === undefined) return [];
  const isCompleted = flagOf(task.isCompleted);
  const state = isCompleted === undefined ? 'without a flag that can be read' : isCompleted ? 'completed' : 'open';
  const text = typeof task.description === 'string' ? task.description : '';
  const keeps = [text.includes(comment) && 'an HTML comment', text.includes(ZERO_WIDTH) && 'zero-width letters'].filter(
    Boolean,
  );
  const marks = keeps.length === 0 ? 'neither an HTML comment nor zero-width letters' : keeps.join(' and ');
  return [
    {
      gap: 'completion-default',
      found: `a new task is ${state}`,
      sure: 'certain',
      does: 'reads the flag of each task',
    },
    {
      gap: 'hidden-marker',
      found: `a description keeps ${marks}`,
      sure: 'certain',
      does: 'leaves descriptions as they are',
    },
  ];
}

async function completion(exam: Examination, list: ListSeen, id: string): Promise<Finding> {
  const gap = 'complete-method';
  const answers: string[] = [];
  for (const completeMethod of ['PUT', 'GET'] as const satisfies readonly Dialect['completeMethod'][]) {
    const look = await exam.calls.look('tasks.complete', {
      completeMethod,
      path: { task_id: toWireId(id) },
      body: { isCompleted: true },
      ...(list.prefix !== undefined && { prefix: list.prefix }),
    });
    answers.push(`${completeMethod} ${answerWords(look)}`);
    const withinMs = mayHaveWritten(look) ? patienceMs(exam) : 0;
    const done = await lookFor(exam, withinMs, async () =>
      flagOf((await readTask(exam, list, id))?.isCompleted) === true ? true : undefined,
    );
    if (done === undefined) continue;
    const setting = settingOf(exam.account, 'dialect.completeMethod', completeMethod);
    const does = `completes tasks by ${completeMethod}`;
    const before = completeMethod === 'GET' ? '; a PUT does not' : '';
    return { gap, found: `${completeMethod} completes a task${before}`, sure: 'certain', does, setting };
  }
  const needs = 'ask the service’s operator how a task is completed';
  return {
    gap,
    found: `neither method completed it: ${answers.join('; ')}`,
    sure: 'likely',
    does: 'cannot complete tasks',
    needs,
  };
}

async function readTask(exam: Examination, { prefix }: ListSeen, id: string): Promise<JsonObject | undefined> {
  const { outcome } = await exam.calls.look('tasks.get', {
    query: { id: toWireId(id) },
    ...(prefix !== undefined && { prefix }),
  });
  return outcome.status === 'applied' ? recordIn(outcome.content, exam.account.dialect, 'tasks') : undefined;
}

/** On the first page where lists begin with the newest, else on the last, which is found by doubling and halving. */
async function findTask(exam: Examination, list: ListSeen): Promise<string | undefined> {
  const { dialect } = exam.account;
  const page = async (number: number) => (await readAgain(exam, list, { [dialect.pageParam]: number })).found;
  const ours = (records: readonly JsonObject[] = []) =>
    idOf(
      records.find(({ taskName }) => String(taskName).includes(exam.marker)),
      'tasks',
      dialect,
    );
  const first = await page(0);
  if (first === undefined || first.records.length === 0) return ours((await page(1))?.records);
  const onFirst = ours(first.records);
  if (onFirst !== undefined) return onFirst;
  const isFull = async (number: number) => {
    const { ids = [] } = (await page(number)) ?? {};
    return ids.length > 0 && ids[0] !== first.ids[0];
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
