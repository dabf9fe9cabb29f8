/** Creations that people decide on: each is made once, whatever happens meanwhile. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { type Run, runningRuns, startRun } from '../../src/engine/ledger/runs.ts';
import { planRows } from '../../src/engine/ledger/transitions.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { CONTACT_RUN } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import type { Reply } from '../support/http-server.ts';
import { ann, ben, cho, openReview, rivals } from './contact-review.ts';

const { harness, review, decide, syncTo, customer, ids, reasons, states } = await openReview();

function onImports(handle: (pass: () => Promise<Reply>) => Promise<Reply | undefined>): { seen: number } {
  const imports = { seen: 0 };
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith('/import')) return pass();
    imports.seen++;
    return handle(pass);
  });
  return imports;
}

const lose = async (pass: () => Promise<Reply>): Promise<Reply> => {
  await pass();
  throw new Error('the answer is lost');
};

async function decideToCreate(): Promise<void> {
  await harness.addContacts([ann]);
  await harness.addCustomers(rivals(ann));
  await syncTo({ in: 1, review: 1 }, 0);
  await decide('contact-1', '--create');
}

/** Runs the sync until an import was answered in this way, and cancels it before it reads the customers back. */
async function cancelAfter(answer: (pass: () => Promise<Reply>) => Promise<Reply>): Promise<void> {
  let hasSent = false;
  let isAnswered = false;
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith('/import')) return hasSent ? undefined : pass();
    hasSent = true;
    return answer(pass).finally(() => {
      isAnswered = true;
    });
  });
  const run = await harness.beginSync();
  await expect.poll(() => isAnswered).toBe(true);
  await endRun(harness.database.pool, run.id, 'cancelled');
  harness.front.set();
}

test('a decided creation whose answer is lost is created once', async () => {
  await decideToCreate();
  const imports = onImports(lose);
  await syncTo({ in: 1, created: 1 }, 1);
  expect(imports.seen).toBe(1);
  harness.front.set();
  await syncTo({ in: 1, unchanged: 1 }, 0);
  expect(await harness.customers()).toHaveLength(3);
});

test('a decided creation is created once although its process is killed while it sends', async () => {
  await decideToCreate();
  const child = harness.startProgram('test/support/sync-program');
  const exited = once(child, 'exit');
  const imports = onImports(async (pass) => {
    await pass();
    child.kill('SIGKILL');
    return undefined;
  });
  await exited;
  expect(imports.seen).toBe(1);
  harness.front.set();
  const [unfinished] = await runningRuns(harness.database.pool);
  await (await harness.workspace.work()).attend(unfinished as Run);
  const run = await ended(harness.database, (unfinished as Run).id);
  expect([run.status, await harness.tally(run)]).toEqual(['done', { in: 1, created: 1 }]);
  await syncTo({ in: 1, unchanged: 1 }, 0);
  expect(await harness.customers()).toHaveLength(3);
});

test('a decided creation that its run never sent is created by the next run', async () => {
  await decideToCreate();
  const { pool } = harness.database;
  const { run } = await startRun(pool, { ...CONTACT_RUN, scope: 'test' });
  await inTransaction(pool, async (db) => {
    await addRows(db, run.id, [{ n: 1, sourceId: '1', label: 'Ann', fields: {} }]);
    await planRows(db, run.id, {
      sql: `select 1 as n, 'import' as action, null as record_id, null::jsonb as fields, null::jsonb as was`,
    });
  });
  await pool.query('update ledger.decisions set applied_at = now(), applied_by = $1', [run.id]);
  await endRun(pool, run.id, 'failed', { code: 'SERVICE_AWAY', message: 'it was away' });
  await syncTo({ in: 1, created: 1 }, 1);
  expect(await harness.customers()).toHaveLength(3);
});

test('a decided creation that was sent is not sent again: the next run finds it, or asks again', async () => {
  await decideToCreate();
  await cancelAfter(lose);
  expect(await reasons(await syncTo({ in: 1, existing: 1 }, 0))).toEqual(['1 MATCHED']);
  await harness.reset();
  await decideToCreate();
  await cancelAfter(async () => {
    throw new Error('never arrived');
  });
  expect(await reasons(await syncTo({ in: 1, review: 1 }, 0))).toEqual(['1 AMBIGUOUS_MATCH']);
  expect(await ids()).toEqual(['contact-1']);
});

test('a dry run shows what decisions would do, and applies none', async () => {
  await decideToCreate();
  const dry = await harness.runSync({ dryRun: true });
  expect(await harness.tally(dry)).toEqual({ in: 1, created: 1 });
  expect(await states()).toEqual(['contact-1 waits for the next run']);
  await syncTo({ in: 1, created: 1 }, 1);
});

test('a gone customer is created again or replaced, as a person decides', async () => {
  await harness.addContacts([ann, ben, cho]);
  await syncTo({ in: 3, created: 3 }, 3);
  const gone = (await harness.customers()).filter(({ full_name }) => full_name !== 'Cho Kim');
  for (const { id } of gone) await harness.remove('customer', Number(id));
  await harness.addCustomers([{ full_name: 'Benny', email: 'benny@home.example' }]);
  await syncTo({ in: 3, review: 2, unchanged: 1 }, 0);
  const benny = (await harness.customers()).find(({ full_name }) => full_name === 'Benny');
  await decide('contact-1', '--create');
  await decide('contact-2', '--use', String(benny?.id));
  await syncTo({ in: 3, created: 1, existing: 1, unchanged: 1 }, 1);
  await syncTo({ in: 3, unchanged: 3 }, 0);
  expect(await harness.customers()).toHaveLength(3);
});

test('a customer that is another person now is updated when a person confirms it', async () => {
  await harness.addContacts([ann, ben, cho]);
  await syncTo({ in: 3, created: 3 }, 3);
  await harness.editContact(1, { first_name: 'Zoe', last_name: 'Ray', email: 'zoe@example.com' });
  expect(await reasons(await syncTo({ in: 3, unchanged: 2, review: 1 }, 0))).toEqual(['1 CONTACT_REPLACED']);
  const [item] = (await review('--json')).json.items;
  const [id = ''] = Object.keys(item.customers);
  expect((await review('decide', 'contact-1', '--create')).stderr).toMatch(
    /CONTACT_REPLACED: choose --use \d+, --ignore or --later/,
  );
  const { stdout } = await review('decide', 'contact-1', '--use', id);
  expect(stdout).toContain(`stays linked with customer ${id}, and an update that was held back is sent. The next run`);
  await syncTo({ in: 3, unchanged: 2, updated: 1 }, 1);
  await syncTo({ in: 3, unchanged: 3 }, 0);
  expect(await customer(id)).toMatchObject({ email: 'zoe@example.com' });
});
