import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/database/migrate.ts';
import { ledgerMigrations } from '../../../src/engine/ledger/migrations.ts';
import { readRun, startRun } from '../../../src/engine/ledger/runs.ts';
import { bindAccount, fingerprintOf, newScope, scopeNamed, whatIsKnown } from '../../../src/engine/ledger/scopes.ts';
import { resolveScope } from '../../../src/worker/identity.ts';
import { freshDatabase } from '../../support/database.ts';

/** Before accounts became names for scopes. */
const BEFORE = ledgerMigrations.slice(0, 6);

test('a ledger of an earlier version keeps its links and runs under the tenant that the account turns out to be', async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.close());
  const { pool } = database;
  await migrate(pool, 'ledger', BEFORE);
  await pool.query(`
    insert into ledger.runs (id, sync, job, account, resource, lane, dry_run, options, status, phase)
      values ('run-1', 'nightly', 'contacts', 'acme', 'customers', 'batch', false, '{}', 'paused', 'import-customers');
    insert into ledger.rows (run_id, source_id, n, state, action) values ('run-1', '1', 1, 'unknown', 'import');
    insert into ledger.links (account, kind, source_id, record_id, run_id) values ('acme', 'contact-customer', '1', '7', 'run-1');
    insert into ledger.tasks (account, sync, kind, task_id, version, state, hash) values ('other', 'm', 'task', '1', 1, '{}', '');`);
  await migrate(pool, 'ledger', ledgerMigrations);

  expect(await readRun(pool, 'run-1')).toMatchObject({ account: 'acme', scope: 'acme', status: 'paused' });
  expect((await pool.query('select scope, known from ledger.links')).rows).toEqual([{ scope: 'acme', known: null }]);
  expect([await scopeNamed(pool, 'acme'), await scopeNamed(pool, 'other')]).toEqual(['acme', 'other']);
  const again = { sync: 'another', job: 'contacts', account: 'acme', resource: 'customers', lane: 'batch' } as const;
  const begun = await startRun(pool, { ...again, dryRun: false, options: {}, phase: 'scan-contacts' });
  expect([begun.status, begun.run.id]).toEqual(['busy', 'run-1']);

  const identity = { origin: 'https://a.example', fingerprint: await fingerprintOf(pool, 'a-key') };
  const nothingAsked = () => Promise.reject(new Error('no record is asked for'));
  expect(await resolveScope(pool, 'acme', identity, nothingAsked)).toEqual({ status: 'known', scope: 'acme' });
  const moved = { ...identity, origin: 'https://b.example' };
  expect(await resolveScope(pool, 'acme', moved, nothingAsked)).toMatchObject({ status: 'unclear' });
});

test('a scope of an account gets a name of its own, and two names may share one', async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.close());
  const { pool } = database;
  await migrate(pool, 'ledger', ledgerMigrations);
  expect([await newScope(pool, 'a'), await newScope(pool, 'a')]).toEqual(['a', 'a~2']);
  await bindAccount(pool, 'a', 'a~2');
  await bindAccount(pool, 'b', 'a~2');
  const identity = { origin: 'https://a.example', fingerprint: await fingerprintOf(pool, 'a-key') };
  expect(await whatIsKnown(pool, 'b', identity)).toMatchObject({ bound: 'a~2', known: undefined });
  expect(identity.fingerprint).not.toContain('a-key');
});
