/** All data of a database or a Redis as text, to search for what must not be in it. */
import { Redis } from 'ioredis';
import type pg from 'pg';

export async function everythingIn(pool: pg.Pool): Promise<string> {
  const tables = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('ledger', 'bullmq', 'budget', 'service', 'public') and table_type = 'BASE TABLE'`,
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const found = await pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...found.rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

/** Also writes its dump to the disk, if it keeps one. */
export async function everythingInRedis(url: string): Promise<string> {
  const redis = new Redis(url);
  const texts: string[] = [];
  for await (const keys of redis.scanStream()) {
    for (const key of keys) texts.push(key, (await redis.dumpBuffer(key))?.toString('latin1') ?? '');
  }
  await redis.save().catch(() => undefined); // a save is already running
  await redis.quit();
  return texts.join('\n');
}
