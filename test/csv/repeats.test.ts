/** order_ids that a file has twice, in memory or beyond it. */
import fs from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Repeat, RepeatFinder, repeatProblem } from '../../src/csv/repeats.ts';
import { collected, freshDir, loaded } from './files.ts';

async function repeatsOf(text: string, flushEach = false): Promise<readonly Repeat[]> {
  const finder = new RepeatFinder(await freshDir());
  for (const { line, values, status } of (await loaded(text)).rows) {
    finder.add(line, values, status === 'valid');
    if (flushEach) await finder.flush();
  }
  const found = await collected(finder.repeats());
  await finder.close();
  return found.sort((one, other) => one.line - other.line);
}

const HEADER = 'order_id,client_id,amount,note\n';

test.each([false, true])(
  'identical rows repeat the first; what is not mapped says nothing (spilled: %s)',
  async (spilled) => {
    const text = `${HEADER}A,7,1.50,x\nB,7,1,x\nA,7,1.5,other\n A ,7,1.50,\n`;
    expect(await repeatsOf(text.replace('note', 'colour'), spilled)).toEqual([
      { line: 4, otherLine: 2, kind: 'same', wasValid: true },
      { line: 5, otherLine: 2, kind: 'same', wasValid: true },
    ]);
  },
);

test.each([false, true])(
  'rows of one order_id that differ are both told, each naming the other (spilled: %s)',
  async (spilled) => {
    expect(await repeatsOf(`${HEADER}A,7,1,\nB,7,1,\nA,8,1,\nA,9,1,\n`, spilled)).toEqual([
      { line: 2, otherLine: 4, kind: 'different', wasValid: true },
      { line: 4, otherLine: 2, kind: 'different', wasValid: true },
      { line: 5, otherLine: 2, kind: 'different', wasValid: true },
    ]);
  },
);

test('an invalid row counts too: nobody can say whether it or the other is meant', async () => {
  expect(await repeatsOf(`${HEADER}A,7,oops,\nA,7,1,\n`)).toEqual([
    { line: 2, otherLine: 3, kind: 'different', wasValid: false },
    { line: 3, otherLine: 2, kind: 'different', wasValid: true },
  ]);
});

test('rows without an order_id repeat nothing', async () => {
  expect(await repeatsOf(`${HEADER},7,1,\n,7,1,\n`)).toEqual([]);
});

test('the problem names both lines', () => {
  const repeat = { line: 9, otherLine: 2, wasValid: true } as const;
  const facts = { line: 9, other: 2 };
  expect(repeatProblem({ ...repeat, kind: 'same' })).toMatchObject({ code: 'DUP_IN_FILE', facts });
  expect(repeatProblem({ ...repeat, kind: 'different' })).toMatchObject({ code: 'ORDER_ID_REPEATED', facts });
});

test('600,000 rows beyond memory give the same answer, and leave no file', async () => {
  const dir = await freshDir();
  const finder = new RepeatFinder(dir);
  for (let line = 2; line < 600_002; line += 1) {
    const order_id = `A-${line === 600_001 ? 5 : line}`;
    if (finder.add(line, { order_id }, true)) await finder.flush();
  }
  const repeat = { line: 600_001, otherLine: 5, kind: 'same', wasValid: true };
  expect(await collected(finder.repeats())).toEqual([repeat]);
  await finder.close();
  expect(await fs.readdir(dir)).toEqual([]);
});
