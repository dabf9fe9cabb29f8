/** Every state that docs/protocol.tla can reach, with crashes, lost answers, late commits and late reads at every step. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Constants, readSpecification, type State } from './tla.ts';

const SETTLE = 2;
const CONSTANTS: Constants = {
  Settle: SETTLE,
  CommitsWithin: SETTLE,
  Wait: 2 * SETTLE,
  Timeout: 1,
  Lease: 3,
  MostSends: 3,
  ClaimsFirst: true,
  Minds: true,
  Fenced: true,
};
const LATE: Constants = { ...CONSTANTS, CommitsWithin: 2 * SETTLE };

const specification = await readSpecification(path.join(import.meta.dirname, '../../docs/protocol.tla'));

function* violations(definition: string, constants: Constants): Generator<State> {
  for (const { state } of specification.states(constants))
    if (!specification.holds(definition, state, constants)) yield state;
}

test('under the assumptions no state has two records, and every end is true', () => {
  const states = [...specification.states(CONSTANTS)];
  expect(states.length).toBeGreaterThan(1_000);
  for (const invariant of ['TypeOK', 'NotDoubled', 'NotLost', 'Reported'])
    expect([invariant, states.find(({ state }) => !specification.holds(invariant, state, CONSTANTS))]).toEqual([
      invariant,
      undefined,
    ]);
  const ends = states.filter(({ isEnd }) => isEnd);
  expect(ends.filter(({ state }) => !specification.holds('Done', state, CONSTANTS))).toEqual([]);
  expect(new Set(ends.map(({ state: { row } }) => row))).toEqual(new Set(['created', 'ready']));
});

test.each<[string, Constants]>([
  ['the wait before a record counts as absent is settle, not twice settle', { Wait: SETTLE }],
  ['a row is sent before its claim is durable', { ClaimsFirst: false }],
  ['a request may leave after its claim', { Minds: false }],
  ['an outcome is recorded without the claim', { Fenced: false }],
  ['the service commits later than settle', LATE],
])('two records are possible if %s', (_, changed) => {
  expect(violations('NotDoubled', { ...CONSTANTS, ...changed }).next().value).toBeDefined();
});

test('if the service commits later than settle, an audit reports every row that has two records', () => {
  const late = [...specification.states(LATE)];
  expect(late.filter(({ state }) => !specification.holds('Reported', state, LATE))).toEqual([]);
  const created = late.flatMap(({ state, isEnd }) => (isEnd && state.row === 'created' ? [state] : []));
  const doubled = created.filter((state) => !specification.holds('NotDoubled', state, LATE));
  expect(doubled.length).toBeGreaterThan(0);
  expect(doubled.filter(({ audited }) => audited === -1)).toEqual([]);
});
