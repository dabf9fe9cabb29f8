/** The service inside this process, on the same database. It starts when an account without an address is first used. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import type { Logger } from 'pino';
import { makeDirectory } from '../../base/make-directory.ts';
import type { Service } from '../../service/server.ts';
import { createKey, ensureTenant, OF_ACCOUNT } from '../../service/tenants.ts';
import type { Database } from '../../storage/open.ts';
import { makePool } from '../../storage/pool.ts';

const CONNECTIONS = 10;

export class EmbeddedService {
  readonly #database: Database;
  readonly #dataDir: string;
  readonly #log: Logger;
  #started: Promise<{ service: Service; pool: pg.Pool }> | undefined;

  constructor({ database, dataDir, log }: { database: Database; dataDir: string; log: Logger }) {
    this.#database = database;
    this.#dataDir = dataDir;
    this.#log = log;
  }

  /** Starts the service at the given address. Call it before anything else uses the service. */
  async listen({ host, port }: { host: string; port: number }): Promise<Service> {
    return (await this.#start({ host, port })).service;
  }

  /** The address and a key of the tenant `name`, which is made if it is missing; `key`: the key from the settings, if any. */
  async access(name: string, key: string | undefined): Promise<{ url: string; key: string }> {
    const { service, pool } = await this.#start();
    const tenant = await ensureTenant(pool, name);
    const used = key ?? (await this.#localKey(name));
    await createKey(pool, tenant.id, { key: used, label: OF_ACCOUNT + name });
    return { url: service.url, key: used };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const started = await this.#started?.catch(() => undefined);
    this.#started = undefined;
    await started?.service.close();
    await started?.pool.end();
  }

  #start(address: { host?: string; port?: number } = {}): Promise<{ service: Service; pool: pg.Pool }> {
    this.#started ??= this.#open(address).catch((error: unknown) => {
      this.#started = undefined; // the next use tries again
      throw error;
    });
    return this.#started;
  }

  async #open(address: { host?: string; port?: number }): Promise<{ service: Service; pool: pg.Pool }> {
    const pool = makePool({ ...this.#database.connection, max: CONNECTIONS }, this.#log);
    try {
      const { startService } = await import('../../service/server.ts'); // its framework takes long to load
      return { service: await startService({ pool, ...address }), pool };
    } catch (error) {
      await pool.end();
      throw error;
    }
  }

  /** One key per account and data directory, readable by its owner only, so that every process uses the same key. */
  async #localKey(name: string): Promise<string> {
    const file = path.join(this.#dataDir, 'keys', name);
    await makeDirectory(path.dirname(file), { mode: 0o700 });
    await fs.writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 }).catch(() => undefined);
    return (await fs.readFile(file, 'utf8')).trim();
  }
}
