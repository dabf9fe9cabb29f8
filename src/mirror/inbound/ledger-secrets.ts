/** Secrets that vendors make, in the ledger. */
import type pg from 'pg';
import type { Queryable } from '../../storage/queryable.ts';
import { alone } from '../../storage/transaction.ts';
import type { KeptSecrets } from '../targets/calls/kept-secrets.ts';

/** `calling`: a pool for work that waits for vendors. If it took connections of `pool`, it would wait for its own budget, and all others too. */
export function keptSecretsOf(pool: pg.Pool, target: string, calling = pool): KeptSecrets {
  return keptIn(pool);

  function keptIn(db: Queryable): KeptSecrets {
    return {
      async read(kind) {
        const found = await db.query<{ sealed: Buffer; expiresAt: Date | null }>(
          'select sealed, expires_at as "expiresAt" from ledger.kept_secrets where target = $1 and kind = $2',
          [target, kind],
        );
        const [row] = found.rows;
        return row && { sealed: row.sealed, expiresAt: row.expiresAt ?? undefined };
      },
      async write(kind, { sealed, expiresAt }) {
        await db.query(
          `insert into ledger.kept_secrets (target, kind, sealed, expires_at) values ($1, $2, $3, $4)
           on conflict (target, kind) do update set sealed = excluded.sealed, expires_at = excluded.expires_at`,
          [target, kind, sealed, expiresAt],
        );
      },
      async forget(kind) {
        await db.query('delete from ledger.kept_secrets where target = $1 and kind = $2', [target, kind]);
      },
      alone: (work) => alone(calling, `lockstep secrets of ${target}`, (own) => work(keptIn(own))),
    };
  }
}
