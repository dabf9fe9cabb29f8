/** Syncs that were due and have not started. */
import { describe, expect, test } from 'vitest';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { keepSchedules, makeDueStarts, pauseSync } from '../../src/engine/ledger/schedules.ts';
import { statusOf } from '../../src/operator/status.ts';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../settings/problems-in.ts';
import { openProblems } from './problems-world.ts';

const { database, problems, one, keys, begin } = await openProblems();

describe('a sync', () => {
  const HOUR = 3_600_000;
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR);
  const schedule = { kind: 'every', everyMs: 24 * HOUR, missed: 'skip', jitterMs: 0 } as const;

  async function skip(): Promise<void> {
    const { pool } = database;
    await keepSchedules(pool, [{ sync: 'nightly', schedule }], ago(48));
    await makeDueStarts(pool, () => Promise.reject(new Error('it was missed by more than a minute')));
  }

  test('that was due and has not started is late until a run starts', async () => {
    await skip();
    expect(await one()).toMatchObject({ event: 'sync-late', subject: 'nightly', sync: 'nightly', isPassing: false });
    const run = await begin();
    expect(await keys()).toEqual([]);
    await endRun(database.pool, run.id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('that was due and waits for the run of another sync is late, and its alert names that run', async () => {
    const { pool } = database;
    const { id } = await aRun(database, { sync: 'other' });
    await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...schedule, missed: 'run-once' } }], ago(48));
    await makeDueStarts(pool, async () => ({ status: 'waits', run: id }));
    const problem = (await problems()).find(({ event }) => event === 'sync-late');
    expect(problem).toMatchObject({ sync: 'nightly', cause: 'RUN_IN_THE_WAY', command: `runs show ${id}` });
    expect(problem?.why).toContain(`run ${id}`);
  });

  test('that is due often is late once its starts have failed for five minutes, whatever its interval', async () => {
    const { pool } = database;
    const often = { ...schedule, everyMs: 60_000 };
    const minutesAgo = (minutes: number) => ago(minutes / 60);
    await keepSchedules(pool, [{ sync: 'nightly', schedule: often }], minutesAgo(12));
    for (let at = 11; at >= 0; at--)
      await makeDueStarts(pool, async () => ({ status: 'failed' }), { now: minutesAgo(at) });
    expect((await one()).since?.getTime()).toBeLessThanOrEqual(minutesAgo(10).getTime());
    await endRun(pool, (await begin()).id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('is not late because its own run was unfinished when it was due', async () => {
    const { pool } = database;
    await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...schedule, missed: 'run-once' } }], ago(72));
    const run = await begin();
    await pool.query(`update ledger.runs set created_at = now() - interval '3 days'`);
    await makeDueStarts(pool, async () => ({ status: 'made' }));
    await endRun(pool, run.id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('is not late while it is paused, nor after its schedule has changed', async () => {
    const { pool } = database;
    await skip();
    await pauseSync(pool, 'nightly', undefined);
    expect(await keys()).toEqual([]);
    await pool.query('truncate ledger.paused_syncs');
    await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...schedule, everyMs: 12 * HOUR } }]);
    expect(await keys()).toEqual([]);
  });

  test('is late if no process makes its starts', async () => {
    await keepSchedules(database.pool, [{ sync: 'nightly', schedule }], ago(48));
    expect(await keys()).toEqual(['sync-late:nightly']);
  });
});

test.for([
  [1, 'sync s0: no scheduler starts it'],
  [2, 'syncs s0, s1: no scheduler starts them'],
  [7, 'syncs s0, s1, s2, s3, s4 and 2 more: no scheduler starts them'],
] as const)('%i schedules without a scheduler need a person once', async ([count, words]) => {
  const sync = (n: number) => `s${n}: { type: contacts, account: acme, schedule: { cron: "${n} 2 1 1 *" } }`;
  const syncs = Array.from({ length: count }, (_, n) => sync(n)).join(', ');
  const { needs, unscheduled, hasScheduler } = await statusOf(
    database.pool,
    settingsOf(`accounts: { acme: {} }\nsyncs: { ${syncs} }`),
  );
  expect(needs.map(({ what, why }) => `${what}: ${why}`)).toEqual([
    expect.stringMatching(new RegExp(`^${words}\\. Start one`)),
  ]);
  expect([unscheduled.length, hasScheduler]).toEqual([count, false]);
});
