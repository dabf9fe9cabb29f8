/** Is the first page of tasks 0 or 1, how many are on one, and what comes without a page? */
import { findFirstPage, readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, nothingToSee, type Probe, settingOf } from '../probe.ts';

const GAP = 'tasks-paging';
const DOES = 'reads from the first page until one is empty';

export const tasksPaging: Probe = { name: 'the pages of tasks', gaps: [GAP], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const list = await exam.list('tasks');
  if (list.found === undefined) return [];
  const { pageParam } = exam.account.dialect;
  const first = await findFirstPage(
    async (page) => (await readAgain(exam, list, { [pageParam]: page })).found?.ids ?? [],
  );
  const without = list.found.ids.length;
  if (first.status === 'empty') {
    if (without === 0) return [nothingToSee(GAP, 'tasks', DOES)];
    const needs = 'ask the service’s operator how its tasks are paged: none come where a page is asked for';
    return [certain(GAP, 'tasks come without a page only', 'finds no tasks', { needs })];
  }
  const rows = first.ids.length;
  if (first.status === 'ignored') {
    const needs = 'ask the service’s operator how its tasks are paged: what stands beyond this answer is not seen';
    const does = 'takes the answer for the whole list; its scan is weak';
    return [certain(GAP, `ignored: every page is the same ${rows} tasks`, does, { needs })];
  }
  const what = without === 0 ? 'nothing comes' : without > rows ? 'more come' : 'the first page comes';
  const found = `counted from ${first.from}; ${rows} on the first page; without a page ${what}`;
  return [certain(GAP, found, DOES, { setting: settingOf(exam.account, 'dialect.firstTaskPage', first.from) })];
}
