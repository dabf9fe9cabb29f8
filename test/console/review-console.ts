/** A console with rows in review. */
import { beforeEach } from 'vitest';
import { listDecisions } from '../../src/engine/ledger/decisions.ts';
import { addRows, type NewRow } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { aRun, asLoad } from '../engine/ledger/fresh-ledger.ts';
import { type ConsoleOptions, freshConsole } from './open-console.ts';
import { HOSTILE } from './outbox-console.ts';
import { apiOf } from './requests.ts';

export const ITEM = `/review/items/${encodeURIComponent('acme/contact-1')}`;

const ASKED = { reason: 'AMBIGUOUS_CUSTOMER', facts: { customers: ['15', '16'] } };

/** For the file that calls it. Each test begins without rows and decisions. */
export async function openReviewConsole(needs: Pick<ConsoleOptions, 'openAccount'> = {}) {
  const { database, web } = await freshConsole(needs);
  const { pool } = database;
  beforeEach(() => pool.query('truncate ledger.runs, ledger.decisions, ledger.console_actions cascade'));

  /** A finished run with contacts in review; each has two candidates, and the second may be its customer. */
  async function inReview(labels: readonly string[], noKey: readonly string[] = []): Promise<void> {
    const { id } = await aRun(database, { sync: 'nightly', account: 'acme' });
    const rows = [...labels, ...noKey].map((label, i) => ({
      n: i + 1,
      sourceId: String(i + 1),
      label,
      verdict: 'review' as const,
      reason: i < labels.length ? 'AMBIGUOUS_MATCH' : 'NO_KEY',
      facts: { ids: ['15', '16'] },
    }));
    await addRows(pool, id, rows);
    const asScanned = `update ledger.inputs set source_id = n::text, name = 'Ann Lee', email = 'ann@example.com' where run_id = $1`;
    await pool.query(asScanned, [id]);
    const customers = {
      15: { name: 'Ann Lee', email: 'ANN@example.com' },
      16: { name: HOSTILE, email: 'other@example.com' },
    };
    await pool.query('insert into ledger.evidence select run_id, n, $2 from ledger.inputs where run_id = $1', [
      id,
      customers,
    ]);
    await endRun(pool, id, 'done');
  }

  /** A load whose orders may each belong to two customers; `names`: of their customers, in the file. Returns the run. */
  async function ordersInReview(
    names: readonly string[],
    asked: Pick<NewRow, 'reason' | 'facts'> = ASKED,
  ): Promise<string> {
    const run = await aRun(database, { sync: 'orders', type: 'orders', account: 'acme', resource: 'orders' });
    await asLoad(database, run);
    await addRows(
      pool,
      run.id,
      names.map((_, i) => ({ n: i + 1, label: `A-${i + 1}`, verdict: 'review', ...asked })),
    );
    await pool.query('update ledger.inputs set name = ($2::text[])[n] where run_id = $1', [run.id, names]);
    await endRun(pool, run.id, 'done');
    return run.id;
  }

  const decisions = async () =>
    (await listDecisions(pool)).map(({ subject, choice, record, note }) => [subject, choice, record, note]);

  return { database, web, inReview, ordersInReview, decisions, call: apiOf(web) };
}
