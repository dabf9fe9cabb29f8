import { afterAll, expect, test } from 'vitest';
import { recordReport } from '../../../src/mirror/inbound/apply-report.ts';
import { keepReports } from '../../../src/mirror/inbound/inbox.ts';
import { letGo, type Report, takeDue } from '../../../src/mirror/inbound/waiting-reports.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

async function take(): Promise<Report> {
  const [report] = await takeDue(database.pool, ['issues'], { limit: 1, holdMs: 60_000 });
  if (report === undefined) throw new Error('no report is due');
  return report;
}

const wait = { afterMs: 0, reason: 'X', detail: 'x', isSpent: true };

test('writes the effects of a report only while the report is held', async () => {
  const item = { itemId: '1', isCompleted: true, status: 'closed' };
  await inTransaction(database.pool, (db) => keepReports(db, 'issues', [item], 'hook'));
  const lost = await take();
  await letGo(database.pool, [lost]);
  const held = await take();
  const kept: string[] = [];
  const keeps = (name: string) => [async () => void kept.push(name)];

  await recordReport(database.pool, { report: lost, status: 'put-off', wait, keeps: keeps('wait without a hold') });
  await recordReport(database.pool, {
    report: lost,
    status: 'ended',
    end: { verdict: 'same' },
    keeps: keeps('end without a hold'),
  });
  await recordReport(database.pool, { report: held, status: 'put-off', wait, keeps: keeps('wait') });
  const again = await take();
  await recordReport(database.pool, { report: again, status: 'ended', end: { verdict: 'same' }, keeps: keeps('end') });
  await recordReport(database.pool, {
    report: again,
    status: 'ended',
    end: { verdict: 'same' },
    keeps: keeps('end twice'),
  });

  expect([kept, held.attempts, again.attempts]).toEqual([['wait', 'end'], 0, 1]);
});
