/** A tiny service that a test changes, and syncs of its contacts: the tests of services that do odd things with data. */
import { afterAll, beforeEach } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import type { Reply } from '../support/http-server.ts';
import { startTinyService, type TinyOptions } from '../support/tiny-service.ts';

export const SETTLE_MS = 100;
const QUICK = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${SETTLE_MS}ms }`;

export const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
export const ben = { first_name: 'Ben', last_name: 'Lee', phone: '+49 30 5550000' };
export const cy = { first_name: 'Cy', last_name: 'Lee', organization: 'Lee & Co' };

export const refused = (status: number, message: string): Reply => ({ status, body: { status: 'error', message } });

/** For the file that calls it. */
export async function openOddService() {
  const tiny = await startTinyService();
  const harness = await openContactsHarness({ account: QUICK, serviceUrl: tiny.url });
  beforeEach(() => harness.reset());
  afterAll(async () => {
    await harness.close();
    await tiny.close();
  });
  return {
    tiny,
    harness,
    /** With the contacts Ann, Ben and Cy, if `options` names no others. */
    serviceWith: (options: TinyOptions = {}) => tiny.begin({ contacts: [ann, ben, cy], ...options }),
    /** The result of each contact, by ids 1, 2, …; a contact without a row has not changed. */
    async verdicts(run: Run): Promise<readonly string[]> {
      const rows = new Map((await harness.rows(run)).map((row) => [row.sourceId, row]));
      return Array.from({ length: (await harness.counts(run)).in }, (_, i) => {
        const { verdict, reason } = rows.get(String(i + 1)) ?? { verdict: 'unchanged', reason: null };
        return reason === null ? verdict : `${verdict} ${reason}`;
      });
    },
  };
}
