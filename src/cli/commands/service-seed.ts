/** `lockstep service seed`: makes sample records. */
import { plural } from '../../base/counts.ts';
import { seedWorkspace } from '../../service/testbed/seed.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { wholeNumber } from './arguments.ts';

const DEFAULT_CONTACTS = 2_000;

interface SeedOptions {
  readonly contacts: number;
  readonly tenant?: string;
}

export function addSeed(service: Command, perform: Perform): void {
  service
    .command('seed')
    .summary('fill tenants with sample records')
    .description(
      'Fills a tenant, or two sample tenants if none is named, with records as untidy as a real workspace: shared ' +
        'mailboxes, missing and oddly spelt e-mails and phones, existing customers, orders, tasks and a pipeline. A tenant ' +
        'that already has contacts is not changed. The account X of the embedded service uses the tenant X.',
    )
    .option(
      '--contacts <n>',
      'contacts of the tenant, or of the first sample tenant; the numbers of other records depend on it',
      wholeNumber,
      DEFAULT_CONTACTS,
    )
    .option('--tenant <name>', 'tenant to fill; it is created if it does not exist')
    .examples(`
  $ lockstep service seed --tenant demo
  $ lockstep service seed --contacts 50000`)
    .action(perform(seed));
}

async function seed(session: Session, { contacts, tenant }: SeedOptions): Promise<void> {
  const { pool } = await session.openServiceStore();
  const seeded = await seedWorkspace(pool, {
    contacts,
    tenants: tenant === undefined ? undefined : [{ name: tenant }],
  });
  for (const { status, name, key, counts } of seeded.tenants) {
    const what = status === 'seeded' ? 'is filled' : 'already had contacts and was not changed';
    const held = Object.entries(counts).map(([kinds, n]) => plural(n, kinds.replace(/s$/, '')));
    session.out.say(`Tenant ${name} ${what}: ${held.join(', ')}.`);
    if (key !== undefined) session.out.say(`  A key for it, shown only once: ${key}`);
  }
  session.out.result(seeded);
}
