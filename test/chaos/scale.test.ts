/** Deciding and settling take time linear in the number of contacts. Checked as ratios, not as seconds. */
import { afterAll, expect, test } from 'vitest';
import { CONTACT_LINK } from '../../src/engine/ledger/matching/contact-links.ts';
import { decideContacts } from '../../src/engine/ledger/matching/decide-contacts.ts';
import { settleContacts } from '../../src/engine/ledger/matching/settle-contacts.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { aRun, freshLedger } from '../engine/ledger/fresh-ledger.ts';

const FEW = 4_000;
const TIMES = 5;
/** Twice the linear ratio, because other programs use the machine too; quadratic time would be five times it. */
const MOST = 2 * TIMES;
const MATCH_BY = ['email', 'phone'] as const;
const HOW = {
  matchBy: MATCH_BY,
  action: 'import',
  onChange: 'update',
  mappedFields: [],
  isWhole: true,
  unchanged: 0,
} as const;

const database = await freshLedger();
afterAll(() => database.close());

interface Shape {
  readonly state: string;
  readonly firstPass: number;
  /** SQL over the number `i` of a contact and its customer. */
  readonly email: string;
  readonly phone: string;
}

async function fill(run: Run, count: number, { state, firstPass, email, phone }: Shape): Promise<void> {
  const { pool } = database;
  await pool.query(
    `insert into ledger.inputs (run_id, n, source_id, email, phone, name, fields, hash)
     select $1, i, 'c' || i, ${email}, ${phone}, 'name ' || i, '{}', 'h' from generate_series(1, $2::int) i`,
    [run.id, count],
  );
  if (state === 'acked') await fillSent(run, count);
  await pool.query(
    `insert into ledger.records (run_id, kind, record_id, email, phone, name, fields, first_pass, last_pass)
     select $1, 'customer', i, ${email}, ${phone}, 'name ' || i, '{}', $3, $3 from generate_series(1, $2::int) i`,
    [run.id, count, firstPass],
  );
}

async function fillSent({ id }: Run, count: number): Promise<void> {
  const { pool } = database;
  await pool.query(
    `insert into ledger.plans (run_id, n, action) select $1, i, 'import' from generate_series(1, $2::int) i`,
    [id, count],
  );
  await pool.query(
    `insert into ledger.attempts (run_id, n, action, outcome, sends)
     select $1, i, 'import', 'acked', 1 from generate_series(1, $2::int) i`,
    [id, count],
  );
  await pool.query('update ledger.runs set next_n = $2 where id = $1', [id, count + 1]);
}

const OWN_MAIL = { email: `'p' || i || '@example.com'`, phone: 'null' };
const ONE_SWITCHBOARD = { email: 'null', phone: `'49305550000'` };

const decide = (run: Run) => inTransaction(database.pool, (db) => decideContacts(db, run, HOW));
const settle = (run: Run) =>
  inTransaction(database.pool, (db) =>
    settleContacts(db, run, {
      matchBy: MATCH_BY,
      pass: 1,
      readAt: new Date(),
      isWhole: true,
      isLookedUp: true,
      settleMs: 1_000,
    }),
  );

/** Every contact has its customer and nothing has changed: the usual nightly run. */
async function fillLinked(run: Run, count: number): Promise<void> {
  await fill(run, count, { state: 'staged', firstPass: 0, ...ONE_SWITCHBOARD });
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id)
     select $2, $3, source_id, n, hash, $1 from ledger.inputs where run_id = $1`,
    [run.id, run.account, CONTACT_LINK],
  );
}

const cases: readonly [string, (run: Run, count: number) => Promise<void>, (run: Run) => Promise<unknown>][] = [
  [
    'matching customers that are there',
    (run, n) => fill(run, n, { state: 'staged', firstPass: 0, ...OWN_MAIL }),
    decide,
  ],
  ['deciding that nothing has changed for people with one switchboard', fillLinked, decide],
  ['finding what was sent', (run, n) => fill(run, n, { state: 'acked', firstPass: 1, ...OWN_MAIL }), settle],
];

test.each(cases)('%s', async (_what, prepare, work) => {
  const took: number[] = [];
  for (const count of [FEW, FEW * TIMES]) {
    const run = await aRun(database);
    await prepare(run, count);
    const began = performance.now();
    await work(run);
    took.push(performance.now() - began);
    await database.pool.query('truncate ledger.runs, ledger.links cascade');
  }
  const [few = 0, many = 0] = took;
  expect(many / few).toBeLessThan(MOST);
});
