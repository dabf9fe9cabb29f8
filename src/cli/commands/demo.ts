/** `lockstep demo`: a contact sync, a load of orders and a mirror of tasks, over a sample workspace, with everything embedded. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { formatTook } from '../../operator/format.ts';
import type { RunReport } from '../../operator/report.ts';
import type { SeededTenant } from '../../service/testbed/seed.ts';
import type { Command } from '../command.ts';
import { openReceiver } from '../demo/receiver.ts';
import { sampleCsv } from '../demo/sample-csv.ts';
import { loadSample, mirrorSample, workToEnd } from '../demo/samples.ts';
import { BUDGET, demoSettings } from '../demo/settings.ts';
import { exampleLines, readTraits, tryNextLines, workspaceLines } from '../demo/texts.ts';
import { figures } from '../print/run-summary.ts';
import type { Perform, Session } from '../session.ts';
import { aborted } from '../signals.ts';
import type { Workspace } from '../workspace/open-workspace.ts';

const CONTACTS = 2_000;
const ORDERS = 400;
const SYNC = 'nightly-contacts';

export function define(command: Command, perform: Perform): void {
  command
    .description(
      'Shows Lockstep at work on this machine, without any setup: starts a Postgres and the service with a sample ' +
        'workspace, imports its contacts as customers, loads orders from a CSV, does both again to show that nothing is ' +
        'written twice, mirrors a task to a receiver on this machine, and explains the results. It takes less than a minute, longer on a busy machine, and then removes its data.',
    )
    .option('--keep', 'keep the data, and leave the service and the console running until Ctrl-C')
    .action(perform(demo));
}

async function demo(session: Session, { keep: isKept = false }: { keep?: boolean }): Promise<void> {
  const { out } = session;
  const startedAtMs = performance.now();
  const signal = session.untilStopped('Stopping. Press Ctrl-C again to stop at once.');
  const isNew = await makeDirectory(session.dataDir);
  const dataDir = await mkdtemp(path.join(session.dataDir, 'demo-'));
  const shownDir = path.relative(session.cwd, dataDir);
  session.nameFiles({ config: path.join(shownDir, 'lockstep.yaml'), data: shownDir });
  if (!isKept) {
    session.closeLater(async () => {
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
      if (isNew) await rmdir(session.dataDir).catch(() => undefined); // it may hold what another command has made
    });
  }
  out.say('Starting an embedded Postgres and the service with a sample workspace …', '');
  const secret = randomBytes(24).toString('base64url');
  const receiver = await openReceiver(secret);
  session.closeLater(() => receiver.close());
  const settings = await demoSettings(dataDir, { url: receiver.url, secret });
  const workspace = await session.openWorkspace({ settings, dataDir, complete: session.hint });
  const { pool } = workspace.database;
  if (isKept) await workspace.work('every-run'); // also on what is started in the console later
  const { url } = await workspace.service.listen({ host: '127.0.0.1', port: 0 });
  const { tenant, neighbour } = await seed(pool);
  out.say(...workspaceLines(tenant, neighbour, await readTraits(pool, tenant.id)));
  out.say('', `1. Importing them as customers, with a budget of ${BUDGET} calls a second:`);
  const runOnce = (sync: string) => runSync(session, workspace, sync, signal);
  const first = await runOnce(SYNC);
  out.say(...(await exampleLines(pool, first)));
  out.say('', '2. The same sync again, with unchanged data:');
  const second = await runOnce(SYNC);
  const writes = second.counts.created + second.counts.updated;
  out.say(`  Result: ${plural(writes, 'write')}, and ${plural(second.calls, 'call')} to read existing records.`);
  out.say('', '3. Loading a file of orders from a spreadsheet:');
  const file = path.join(dataDir, 'bestellungen.csv');
  await writeFile(file, await sampleCsv(pool, tenant.id, ORDERS));
  const load = await loadSample(session, workspace, file, signal);
  out.say('', '4. The same file again:');
  const again = await loadSample(session, workspace, file, signal);
  if (again.run === load.run)
    out.say(`  Load ${load.run} has already loaded it: no call is made, and nothing is created.`);
  out.say('', '5. Mirroring tasks to a receiver on this machine:');
  const mirror = await mirrorSample(session, workspace, receiver, runOnce);
  out.say('', `All of this took ${formatTook(performance.now() - startedAtMs)}.`);
  const consoleUrl = isKept ? (await workspace.serveConsole()).url : undefined;
  out.say(...tryNextLines({ dataDir: shownDir, complete: session.hint, url, consoleUrl, key: tenant.key, first }));
  const data = isKept ? { url, consoleUrl, data: dataDir } : {};
  out.result({
    first,
    second,
    load,
    ...mirror,
    tenants: [tenant, neighbour].map(({ name, counts }) => ({ name, counts })),
    ...data,
  });
  if (isKept) await aborted(signal);
}

async function seed(pool: pg.Pool): Promise<{ tenant: SeededTenant & { key: string }; neighbour: SeededTenant }> {
  const { seedWorkspace } = await import('../../service/testbed/seed.ts');
  const tenants = [{ name: 'demo' }, { name: 'Mill Lane' }];
  const [tenant, neighbour] = (await seedWorkspace(pool, { contacts: CONTACTS, tenants })).tenants;
  if (tenant?.key !== undefined && neighbour) return { tenant: { ...tenant, key: tenant.key }, neighbour };
  throw new LockstepError('DEMO_EMPTY', 'The sample workspace could not be made.');
}

/** Rows that need a person are no failure here: the sample contains them on purpose. */
async function runSync(session: Session, workspace: Workspace, sync: string, signal: AbortSignal): Promise<RunReport> {
  const begun = await workspace.startSync(sync, { lane: 'interactive', dryRun: false });
  const { run, report } = await workToEnd(session, workspace, begun.run, signal);
  session.out.say(...figures(report, run));
  return report;
}
