/** Contacts in review, and the commands with which people decide about them, against the embedded service. */
import { afterAll, beforeEach, expect } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { type Around, command, databaseUrl } from '../cli/command.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import type { Reply } from '../support/http-server.ts';
import { wordedRows } from '../support/worded-rows.ts';

export const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 400ms, settle: 400ms }';
export const AWAY: Reply = { status: 503 };
export const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
export const ben = { first_name: 'Ben', last_name: 'Orr', email: 'ben@example.com' };
export const cho = { first_name: 'Cho', last_name: 'Kim', email: 'cho@example.com' };
/** Two customers with the e-mail of a contact, and other names: the contact may be either. */
export const rivals = ({ email }: { readonly email: string }) =>
  ['One', 'Two'].map((full_name) => ({ full_name, email }));

export const filtered = (countries: string) => `type: contacts, options: { where: { country: [${countries}] } }`;
export const SYNCS = {
  contacts: 'type: contacts',
  german: filtered('DE'),
  french: filtered('FR'),
  both: filtered('DE, FR'),
};

/** For the file that calls it. */
export async function openReview() {
  const harness = await openContactsHarness({ account: QUICK, hasFront: true, syncs: SYNCS });
  beforeEach(() => harness.reset());
  afterAll(() => harness.close());

  function lockstepWith(more: Pick<Around, 'signals'>, ...args: readonly string[]) {
    const env = { ...harness.env, DATABASE_URL: databaseUrl(harness.database.connection) };
    return command([...args, '--config', 'lockstep.yaml'], { cwd: harness.dataDir, env, ...more });
  }

  const lockstep = (...args: readonly string[]) => lockstepWith({}, ...args);

  const review = (...args: readonly string[]) => lockstep('review', ...args);

  async function decide(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await review('decide', ...args);
    expect([code, stderr]).toEqual([0, '']);
  }

  /** Runs the sync and expects exactly these counts and this many writes. */
  async function syncTo(counts: Record<string, number>, writes: number, sync?: keyof typeof SYNCS): Promise<Run> {
    const before = harness.writesSeen();
    const run = await harness.runSync({ ...(sync && { sync }) });
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await harness.tally(run)).toEqual(counts);
    expect(harness.writesSeen() - before).toBe(writes);
    return run;
  }

  const customer = async (id: string) => (await harness.customers()).find((one) => String(one.id) === id);
  const ids = async () => (await review('--json')).json.items.map(({ id }: { id: string }) => id);
  const reasons = async (run: Pick<Run, 'id'>) =>
    (await wordedRows(harness.database.pool, run)).map(({ sourceId, reason }) => `${sourceId} ${reason}`);
  const states = async () =>
    (await review('--decided', '--json')).json.decisions.map(
      ({ id, state }: Record<string, string>) => `${id} ${state}`,
    );

  return { harness, lockstepWith, lockstep, review, decide, syncTo, customer, ids, reasons, states };
}
