/**
 * Services that differ from ours, with no client settings: a contact sync, two loads or three scans of tasks, with the long
 * tests all of them each. In the end the services have exactly what must be there. test/chaos/worlds.test.ts
 * draws many more of them.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { isRefusable } from '../support/drawn-habit.ts';
import { type Drawn, drawService, type Paging, type PastEnd, plainService } from '../support/drawn-service.ts';
import { byLength } from '../support/property-runs.ts';
import { type Checked, checkServices, type Step } from '../support/random-check.ts';

const fromOne = (pastEnd: PastEnd, isSizeHonoured: boolean): Paging => ({
  kind: 'pages',
  first: 1,
  cap: 9,
  isSizeHonoured,
  pastEnd,
  zero: 'refused',
});
const sized: Paging = { ...(fromOne('empty', true) as Extract<Paging, { kind: 'pages' }>), first: 0 };
const allInPages = (of: Paging): Partial<Drawn> => ({ paging: { contacts: of, customers: of, orders: of, tasks: of } });
const continuing = (kind: 'cursor' | 'offset' | 'starting_after'): Partial<Drawn> => allInPages({ kind, cap: 7 });
const ALL: readonly Step[] = ['contacts', 'orders', 'tasks'];
const fresh = { contacts: 3, customers: 0, orders: 0, tasks: 0 };

const cases: readonly (readonly [string, Partial<Drawn>, ...Step[]])[] = [
  ['whose ids are called CustomerId and so on', { idName: 'KindId', customerName: 'CustomerId' }, 'orders'],
  [
    'whose ids are called Id, and whose pages begin at 1, others being refused',
    { idName: 'Id', customerName: 'ClientId', ...allInPages(fromOne(400, false)) },
    ...ALL,
  ],
  [
    'that packs its answers, and whose pages of a chosen size begin at 1',
    { encoding: 'gzip', isChunked: true, ...allInPages(fromOne(400, true)) },
    ...ALL,
  ],
  [
    'whose ids are numbers beyond 2^53, and whose missing pages are failing envelopes',
    { idForm: 'long number', ...allInPages(fromOne('failing 200', false)) },
    ...ALL,
  ],
  [
    'that is new, its lists null, and whose ids are digits beyond 2^53 as text',
    { emptyAs: 'null', sizes: fresh, idForm: 'long digits', idName: 'uid' },
    ...ALL,
  ],
  ['that is new, its lists left out', { emptyAs: 'absent', sizes: fresh }, ...ALL],
  ['whose pages lack rows', { ...allInPages(fromOne(400, false)), hiddenEvery: 3 }, ...ALL],
  [
    'whose pages of a chosen size lack rows',
    { ...allInPages(fromOne(400, true)), hiddenEvery: 7, beside: 'total' },
    ...(['contacts', 'orders'] as const),
  ],
  [
    'whose second page repeats a part of the first, from which rows are hidden',
    { ...allInPages({ ...fromOne(400, true), first: 0 } as Paging), hiddenEvery: 3, order: 'scattered' },
    'orders',
  ],
  ['with cursors', { ...continuing('cursor'), idForm: 'uuid' }, ...ALL],
  ['with links in a header', { ...continuing('cursor'), listPath: [], hiddenEvery: 3 }, ...ALL],
  ['with links', { ...continuing('offset'), beside: 'links', order: 'newest', hiddenEvery: 3 }, ...ALL],
  ['with ids of the last record', { ...continuing('starting_after'), beside: 'total', idForm: 'uuid' }, ...ALL],
  ['with offsets', { ...continuing('offset'), beside: 'total', idForm: 'uuid' }, ...ALL],
  [
    'whose missing pages have no list beside a total',
    { ...allInPages(fromOne('empty', true)), emptyAs: 'null', beside: 'total' },
    ...ALL,
  ],
  ['that answers 204 for an empty list', { habit: 'answers 204 for an empty list', sizes: fresh }, ...ALL],
  [
    'whose members come in another order each time',
    { ...continuing('cursor'), habit: 'shuffles members', hiddenEvery: 3 },
    ...(['contacts', 'orders'] as const),
  ],
  ['that stamps every answer', { ...continuing('cursor'), habit: 'stamps every answer' }, ...ALL],
  ['that lists deleted records', { habit: 'lists deleted records' }, ...(['contacts', 'orders'] as const)],
  ['that wants all members in an update', { habit: 'refuses updates that are not whole' }, 'orders'],
  ['that shows an update late', { habit: 'empties what an update leaves out', lagMs: 100 }, 'orders'],
  ['that hides amounts', { habit: 'hides amounts' }, 'orders'],
  ['that refuses large pages', { ...allInPages(sized), habit: 'refuses large pages' }, 'contacts'],
  ['that fails on large pages', { ...allInPages(sized), habit: 'fails on large pages' }, 'contacts'],
  ['that returns to the first page', allInPages({ ...fromOne('the first', false), first: 0 } as Paging), 'tasks'],
  ['that repeats the last page', allInPages(fromOne('the last', false)), 'contacts'],
  ['that reports its limit in an envelope', { habit: 'limits with an envelope', mostPerSecond: 40 }, ...ALL],
  ['that reports its limit with a 403', { habit: 'limits with 403', mostPerSecond: 40 }, ...ALL],
];
/** Without faults: with them a run may rightly stop, or leave a row for a person. */
const SEEDS = [3, 9, 318, 8002, 8004, 8005, 8013, 8018, 8019, 8020, 8024, 8028, 8034, 8038, 8041, 8042, 8051, 8054];

/** Half of its customers exist as contacts, and are in no list. */
const cutOff: Partial<Drawn> = {
  idForm: 'uuid',
  mostListed: 5,
  sizes: { contacts: 17, customers: 10, orders: 0, tasks: 0 },
};
const CUT = -1;

let checked: readonly Checked[];
beforeAll(async () => {
  checked = await checkServices([
    ...cases.map(([, otherwise, ...all], n) => ({
      drawn: plainService(otherwise),
      steps: byLength({ few: all.filter((_step, at) => at === n % all.length), all }),
    })),
    ...SEEDS.map((seed, n) => ({
      drawn: drawService(seed),
      steps: byLength({ few: ALL.filter((_step, at) => at === n % ALL.length), all: ALL }),
    })),
    { drawn: plainService({ seed: 0, oddity: 'masks e-mails' }) },
    { drawn: plainService({ seed: CUT, oddity: 'lists only the oldest', ...cutOff }), steps: ['contacts'] },
    { drawn: plainService({ seed: CUT, oddity: 'lists only the newest', ...cutOff }), steps: ['contacts'] },
    {
      drawn: plainService({
        ...cutOff,
        seed: CUT,
        oddity: 'lists only the newest',
        idForm: 'number',
        habit: 'has no single reads',
      }),
      steps: ['contacts'],
    },
  ]);
}, 240_000);

describe('a service', () => {
  test.each(cases.map(([what], n) => [what, n] as const))('%s is handled', (_what, n) => {
    expect([checked[n]?.status, checked[n]?.why]).toEqual(['handled', []]);
  });

  test('that masks e-mails is refused, and no masked e-mail is written or compared', () => {
    const masking = checked.find(({ drawn }) => drawn.seed === 0);
    expect(masking?.status).toBe('refused');
    expect(masking?.why.join()).toMatch(
      /MASKED: The service shows an e-mail or a phone in part only: p\*\*\*@example.com/,
    );
  });

  test('that hides customers from its list, and has random ids or no reads by id, gets one customer before that is noticed', () => {
    const cut = checked.filter(({ drawn }) => drawn.seed === CUT);
    const alone = 'created one customer first, to see whether the list of customers shows it';
    for (const { status, why } of cut)
      expect([status, why.join()]).toEqual(['refused', expect.stringContaining(alone)]);
    expect(cut).toHaveLength(3);
  });

  test.each(SEEDS)('drawn by the seed %i is handled', (seed) => {
    const one = checked.find(({ drawn }) => drawn.seed === seed);
    // With all steps, a list that has only the newest records lacks some, and its load is rightly refused.
    if (one?.status === 'refused' && isRefusable(one.drawn)) expect(one.why.join()).toContain('LIST_PARTIAL');
    else expect([one?.status, one?.why]).toEqual(['handled', []]);
  });
});
