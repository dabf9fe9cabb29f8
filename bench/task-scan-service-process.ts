/**
 * The service with the given number of tasks in its own process. Reports its address; at each message it completes one task in
 * a hundred, and answers when that is done.
 *   node task-scan-service-process.ts DATA_DIR KEY TASKS
 */
import { startService } from '../src/service/server.ts';
import { createKey, createTenant } from '../src/service/tenants.ts';
import { openDatabase } from '../src/storage/open.ts';

const [, , dataDir = '', key = '', tasks = ''] = process.argv;
const database = await openDatabase({ url: 'embedded', dataDir, maxConnections: 10 });
const service = await startService({ pool: database.pool });
const tenant = await createTenant(database.pool, 'bench');
await createKey(database.pool, tenant.id, { key });
await database.pool.query(
  `insert into service.tasks (tenant_id, fields)
   select $1, jsonb_build_object('taskName', 'Task ' || n, 'description', repeat('<p>What there is to do.</p>', 5),
     'startDate', '2026-11-02T09:00:00', 'endDate', '2026-11-30T17:00:00', 'isCompleted', false)
   from generate_series(1, $2::int) n order by n`,
  [tenant.id, Number(tasks)],
);
await database.pool.query('vacuum analyze service.tasks');

process.on('message', () => {
  const complete = `update service.tasks set fields = fields || '{"isCompleted": true}' where id % 100 = 0`;
  void database.pool.query(complete).then(() => process.send?.({}));
});
process.once('disconnect', async () => {
  await service.close();
  await database.close();
});
process.send?.({ url: service.url });
