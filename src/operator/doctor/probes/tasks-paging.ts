/** Is the first page of tasks 0 or 1, how many tasks are on a page, and what does a call without a page return? */
import { plural } from '../../../base/counts.ts';
import { findFirstPage, readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, nothingToSee, type Probe, settingOf } from '../probe.ts';

const GAP = 'tasks-paging';
const DOES = 'reads from the first page until a page is empty';

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
    const needs = 'ask the service’s operator how tasks are paged: a request with a page returns none';
    return [certain(GAP, 'only a call without a page returns tasks', 'finds no tasks', { needs })];
  }
  const rows = first.ids.length;
  if (first.status === 'ignored') {
    const needs = 'ask the service’s operator how tasks are paged: the worker cannot read beyond this answer';
    const does = 'treats the answer as the whole list; its scan is weak';
    return [certain(GAP, `ignored: every page has the same ${plural(rows, 'task')}`, does, { needs })];
  }
  const what = without === 0 ? 'returns nothing' : without > rows ? 'returns more' : 'returns the first page';
  const found = `pages start at ${first.from}; the first page has ${plural(rows, 'task')}; a call without a page ${what}`;
  return [certain(GAP, found, DOES, { setting: settingOf(exam.account, 'dialect.firstTaskPage', first.from) })];
}
