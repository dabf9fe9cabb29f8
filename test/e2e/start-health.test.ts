/** Health checks and metrics of real processes of `lockstep start`. */
import { expect, onTestFinished, test } from 'vitest';
import { TEST_KEY } from '../support/harness/harness.ts';
import { openCommandHarness } from './commands.ts';

async function opened() {
  const harness = await openCommandHarness({ syncs: { contacts: 'job: contacts, schedule: { every: 1s }' } });
  onTestFinished(() => harness.close());
  return (...args: readonly string[]) => harness.start('start', ...args);
}

const text = async (url: string) => (await fetch(url)).text();

test('every role serves health checks; a worker also counts what it does, without secrets', async () => {
  const start = await opened();
  const running = start('--health', '127.0.0.1:0');
  const scheduler = start('--roles', 'scheduler', '--health', '127.0.0.1:0');
  const [{ healthUrl }, other] = await Promise.all([running.ready(), scheduler.ready()]);
  for (const url of [healthUrl, other.healthUrl]) {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(JSON.parse(await text(`${url}/readyz`))).toMatchObject({ status: 'ready' });
  }
  const metrics = () => text(`${healthUrl}/metrics`);
  await expect.poll(metrics).toMatch(/lockstep_runs_total\{sync="contacts",status="done"\} [1-9]/);
  expect(await metrics()).toMatch(
    /lockstep_calls_total\{account="test",operation="contacts.getall",outcome="applied"\}/,
  );
  expect(await metrics()).toMatch(/lockstep_queue_jobs\{state="active"\} \d/);
  expect(await metrics()).not.toContain(TEST_KEY);
  for (const one of [running, scheduler]) one.signal('SIGTERM');
  expect((await running.ended).code).toBe(0);
  expect((await scheduler.ended).code).toBe(0);
});

test('a second process on the same port says what to do', async () => {
  const start = await opened();
  const { healthUrl } = await start('--roles', 'scheduler', '--health', '127.0.0.1:0').ready();
  const second = await start('--roles', 'scheduler', '--health', new URL(healthUrl).host).ended;
  expect(second.code).toBe(2);
  expect(second.json.error).toMatchObject({ code: 'HEALTH_PORT_IN_USE' });
});
