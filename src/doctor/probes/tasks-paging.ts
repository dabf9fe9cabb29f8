/** Is the first page of tasks 0 or 1, how many are on one, and what comes without a page? */
import { readAgain } from '../lists.ts';
import { type Examination, type Finding, nothingToSee, type Probe, settingOf } from '../probe.ts';

const GAP = 'tasks-paging';
const DOES = 'reads from the first page until one is empty';

export const tasksPaging: Probe = { name: 'the pages of tasks', gaps: [GAP], access: 'reads', run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const list = await exam.list('tasks');
  if (list.found === undefined) return [];
  const page = async (number: number): Promise<readonly string[]> =>
    (await readAgain(exam, list, { [exam.account.dialect.pageParam]: number })).found?.ids ?? [];
  const [zero, one] = [await page(0), await page(1)];
  const without = list.found.ids;
  if (zero.length === 0 && one.length === 0) {
    if (without.length === 0) return [nothingToSee(GAP, 'tasks', DOES)];
    const needs = 'ask the service’s operator how its tasks are paged: none come where a page is asked for';
    return [{ gap: GAP, found: 'tasks come without a page only', sure: 'certain', does: 'finds no tasks', needs }];
  }
  if (zero.length === 0) return [counted(exam, 1, one.length, without)];
  if (!isSame(zero, one)) return [counted(exam, 0, zero.length, without)];
  const two = await page(2);
  if (!isSame(one, two)) return [counted(exam, 1, one.length, without)];
  const needs = 'ask the service’s operator how its tasks are paged: what stands beyond this answer is not seen';
  const found = `ignored: every page is the same ${one.length} tasks`;
  return [{ gap: GAP, found, sure: 'certain', does: 'takes the answer for the whole list; its scan is weak', needs }];
}

function counted({ account }: Examination, from: 0 | 1, rows: number, without: readonly string[]): Finding {
  const whole = without.length > rows ? 'more come' : 'the first page comes';
  return {
    gap: GAP,
    found: `counted from ${from}; ${rows} on the first page; without a page ${without.length === 0 ? 'nothing comes' : whole}`,
    sure: 'certain',
    does: DOES,
    setting: settingOf(account, 'dialect.firstTaskPage', from),
  };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
