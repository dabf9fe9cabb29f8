/** Two accounts that are one tenant, or may be. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { people } from '../support/people.ts';
import { startProxy } from '../support/tcp-proxy.ts';
import { startTinyService } from '../support/tiny-service.ts';
import { BUDGET, customersOf, type OwnServices, openOwnServices } from './own-services.ts';

const CONTACTS = 20;
let at: OwnServices;
beforeEach(async () => {
  at = await openOwnServices();
});
afterEach(() => at.close());

describe('two names for one tenant', () => {
  test('share links and budget: nothing is created twice, and the limit holds for both', async () => {
    const service = await at.start({ contacts: CONTACTS });
    const budget = '{ requests: 15, per: 1s, burst: 15, settle: 200ms, timeout: 2s }';
    await at.settle({
      a: { url: service.url, budget },
      b: { url: service.url.replace('127.0.0.1', 'localhost'), budget: BUDGET },
    });
    const check = await at.run('settings', 'check');
    expect(check.json.warnings.join()).toContain('accounts a and b have the same address and key');
    const both = await Promise.all([at.run('run', 'sync-a'), at.run('run', 'sync-b')]);
    const again = await at.run('run', 'sync-b');
    expect(again.json.counts).toMatchObject({ created: 0, in: CONTACTS });
    expect(await customersOf(service)).toHaveLength(CONTACTS);
    expect(both.map(({ code }) => code).toSorted()).toSatisfy(([first]: number[]) => first === 0);
    expect(again.json.budget.allowedPerSecond).toBe(15);
    const allowed = 'at most 15 calls a second';
    expect((await at.run('status')).json.accounts).toMatchObject([{ allowed }, { allowed }]);
  });

  test.each([
    ['become one account', 'rebind', 'a', 'unchanged'],
    ['stay two', 'fresh', 'b~2', 'existing'],
  ])('that have different keys %s, as an operator decides', async (_, decision, tenant, verdict) => {
    const service = await at.start({ contacts: CONTACTS, tenants: ['one', 'spare'] });
    await at.settle({ a: { url: service.url }, b: { url: service.url, key: 'spare' } });
    expect((await at.run('run', 'sync-a')).code).toBe(0);
    const before = await customersOf(service);
    const paused = await at.run('run', 'sync-b');
    expect([paused.code, paused.json.error.code]).toEqual([3, 'IDENTITY_UNCLEAR']);
    expect(paused.json.error.message).toContain(
      'tenant 1, which is known as "a" with another key. It may be that tenant,',
    );
    const decided = await at.run('accounts', decision, 'b');
    expect(decided.json).toMatchObject({ tenant, cancelled: [paused.json.run] });
    const again = await at.run('run', 'sync-b');
    expect([again.code, again.json.counts]).toMatchObject([0, { in: CONTACTS, [verdict]: CONTACTS }]);
    expect(await customersOf(service)).toEqual(before);
  });

  test.each(['key', 'address'])(
    'that have another %s, at a service whose records name no tenant, do not both write',
    async (other) => {
      const service = (await startTinyService()).begin({ contacts: people(CONTACTS) });
      const proxy = await startProxy({ host: '127.0.0.1', port: Number(new URL(service.url).port) });
      const b =
        other === 'key'
          ? { url: service.url, key: 'spare' as const }
          : { url: `http://127.0.0.1:${proxy.address.port}` };
      await at.settle({ a: { url: service.url }, b });
      const both = await Promise.all([at.run('run', 'sync-a'), at.run('run', 'sync-b')]);
      const [first, second] = both[0].code === 0 ? ['a', 'b'] : ['b', 'a'];
      expect(both.map(({ code }) => code).toSorted()).toEqual([0, 3]);
      expect(both.find(({ code }) => code === 3)?.json.error).toMatchObject({
        code: 'IDENTITY_UNCLEAR',
        message: expect.stringContaining(
          `shows the contacts of account "${first}", which has another key or address. It may`,
        ),
      });
      expect(service.customers).toHaveLength(CONTACTS);
      expect((await at.run('accounts', 'fresh', second)).json.tenant).toBe(`${second}~2`);
      const again = await at.run('run', `sync-${second}`);
      expect([again.code, again.json.counts]).toMatchObject([0, { in: CONTACTS, existing: CONTACTS }]);
      await proxy.close();
      await service.close();
    },
  );
});
