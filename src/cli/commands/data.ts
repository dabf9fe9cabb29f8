/** `lockstep data copy`: moves a workspace from the embedded Postgres to one of the user's own. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatCount, plural } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { shellWord } from '../../base/reasons/template.ts';
import { migrate, migrateIn } from '../../storage/migrate.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../../storage/open.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';

export function define(data: Command, perform: Perform): void {
  data.description('Copies what is in the embedded Postgres of the data directory into a Postgres of your own.');
  data
    .command('copy')
    .summary('copy the embedded Postgres into the one that the settings name')
    .description(
      'Copies all tables of the embedded Postgres of --data, in one transaction, into the database that DATABASE_URL or ' +
        '`database.url` names. That database must be new and empty. No other process may use the embedded Postgres ' +
        'meanwhile. The embedded Postgres is not changed.',
    )
    .option('--dry-run', 'check both databases and count the rows, and copy nothing')
    .examples(`
  $ export DATABASE_URL=postgres://lockstep:PASSWORD@db.example.com:5432/lockstep
  $ lockstep data copy --dry-run
  $ lockstep data copy`)
    .action(perform(copy));
}

async function copy(session: Session, { dryRun = false }: { readonly dryRun?: boolean }): Promise<void> {
  const { out, dataDir, log } = session;
  const url = (await session.settings()).database.url?.reveal();
  if (url === undefined) {
    const message =
      'The settings name no Postgres to copy to. Set DATABASE_URL (or database.url) to a new, empty database';
    throw wrongUse(message, 'DATABASE_NOT_NAMED');
  }
  const embedded = path.join(dataDir, 'postgres');
  if (!existsSync(embedded))
    throw wrongUse(`${dataDir} has no embedded Postgres to copy. Name the data directory with --data`, 'DATA_MISSING');
  const { COPYING, copyTables } = await import('../../storage/copy.ts');
  const { allMigrations } = await import('../workspace/all-migrations.ts');
  const rooms = Object.entries(await allMigrations());
  const open = async (where: Pick<DatabaseOptions, 'url' | 'applicationName'>): Promise<Database> => {
    const database = await openDatabase({ ...where, dataDir, log });
    session.closeLater(() => database.close());
    return database;
  };
  const to = await open({ url });
  const from = await open({ url: 'embedded', applicationName: COPYING });
  for (const [room, migrations] of rooms) await migrate(from.pool, room, migrations);
  const copied = await copyTables({
    from: from.pool,
    to: to.pool,
    describe: { from: from.describe, to: to.describe },
    schemas: rooms.map(([room]) => room),
    makeTables: async (db) => {
      for (const [room, migrations] of rooms) await migrateIn(db, room, migrations);
    },
    isDryRun: dryRun,
    onProgress: (table, rows) => out.live(`copying ${table} · ${plural(rows, 'row')}`),
  });
  out.live('');
  const shown = copied.filter(({ rows }) => rows > 0);
  out.table(
    ['TABLE', 'ROWS'],
    shown.map(({ table, rows }) => [table, formatCount(rows)]),
    { right: [1] },
  );
  const rows = shown.reduce((sum, one) => sum + one.rows, 0);
  if (dryRun) out.say('', `${plural(rows, 'row')} would be copied into ${to.describe}. Nothing was written.`);
  else
    out.say(
      '',
      `${plural(rows, 'row')} copied into ${to.describe}.`,
      `Keep ${dataDir}: it also has keys and received files. Move the embedded Postgres away, so that no command uses it again: mv ${shellWord(embedded)} ${shellWord(`${embedded}.old`)}`,
    );
  out.result({ dryRun, tables: shown, rows });
}
