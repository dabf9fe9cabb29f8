/** Bull Board in the console: what it shows, who sees it, and that it changes nothing. */
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Console } from '../../src/console/server.ts';
import { openQueue, type SharedQueue } from '../../src/engine/worker/queue.ts';
import { CHROMIUM, launch } from '../support/chromium.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { expectSound, openPage } from './browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';

const LOCKED = SETTINGS.replace('console: {', 'console: { password: { env: PASSWORD }, ');

describe('Bull Board', () => {
  let database: FreshDatabase;
  let queue: SharedQueue;
  let web: Console;
  beforeAll(async () => {
    database = await freshDatabase();
    queue = openQueue({ redis: undefined, database: database.connection, log: pino({ level: 'silent' }) });
    web = await openConsole({ database, queue: async () => queue });
    await queue.add('scan-contacts', { runId: 'run-1' }, { id: 'run-1-scan', isUrgent: true });
  });
  afterAll(async () => {
    await web?.close();
    await queue?.close();
    await database.close();
  });

  test('reads the jobs', async () => {
    const answer = await fetch(`${web.url}/queues/board/api/queues?activeQueue=lockstep&status=prioritized`);
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      {
        queues: [{ name: 'lockstep', readOnlyMode: true, jobs: [{ name: 'scan-contacts', data: { runId: 'run-1' } }] }],
      },
    ]);
  });

  test.each([
    ['PUT', 'pause'],
    ['PUT', 'lockstep/empty'],
    ['PUT', 'lockstep/run-1-scan/clean'],
    ['POST', 'lockstep/add'],
    ['PATCH', 'lockstep/run-1-scan/delay'],
  ])('has no route that changes jobs: %s %s', async (method, path) => {
    const address = `${web.url}/queues/board/api/queues/${path}`;
    const answer = await fetch(address, { method, headers: { origin: web.url } });
    expect(answer.status).toBe(404);
  });

  test('is there only for those who have signed in', async () => {
    const locked = await openConsole({
      database,
      text: LOCKED,
      env: { PASSWORD: 'correct horse battery' },
      queue: async () => queue,
    });
    for (const path of ['', '/', '/queue/lockstep', '/api/queues', '/api/redis/stats']) {
      const answer = await fetch(`${locked.url}/queues/board${path}`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/login/)]);
    }
    await locked.close();
  });

  test.runIf(CHROMIUM)('shows a job in a browser under the policy of all pages, accessible as they are', async () => {
    const browser = await launch();
    const { page, wrong } = await openPage(browser);
    await page.emulateMedia({ reducedMotion: 'reduce' }); // else a text has its old colour for a moment
    await page.goto(`${web.url}/queues`);
    await page.getByRole('link', { name: 'Bull Board' }).click();
    await page.getByRole('link', { name: 'lockstep' }).first().click();
    await page.getByText('scan-contacts').first().waitFor();
    await expectSound(page);
    await page.goto(`${web.url}/queues/board/queue/lockstep/run-1-scan`);
    await page.getByText('runId').first().waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'Queues' }).first().click();
    await page.reload();
    await page.getByRole('link', { name: 'lockstep' }).first().waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'lockstep' }).first().click();
    await page.getByText('scan-contacts').first().click();
    await page.getByText('runId').first().waitFor();
    expect(wrong).toEqual([]);
    await browser.close();
  });
});
