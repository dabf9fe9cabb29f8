/** Folders for a suite's data directories, removed after each test. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach } from 'vitest';

/** Registers the removal and gives a function that makes a new folder, closed to other users as mkdtemp makes it. */
export function scratch(): (options?: { uid?: number }) => Promise<string> {
  const made: string[] = [];
  afterEach(async () => {
    for (const dir of made.splice(0)) await fs.rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  return async ({ uid } = {}) => {
    const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'lockstep-embedded-'));
    made.push(dir);
    if (uid !== undefined) await fs.chown(dir, uid, uid);
    return dir;
  };
}

/** Runs one statement on a connection of its own and gives its rows. */
export async function ask(connection: pg.ClientConfig, sql: string): Promise<unknown[]> {
  const db = new pg.Client(connection);
  await db.connect();
  try {
    return (await db.query(sql)).rows;
  } finally {
    await db.end();
  }
}
