/** Services that do not work, as the processes that watch them find out. */
import type { Queryable } from '../../../storage/queryable.ts';

export interface DownService {
  readonly account: string;
  readonly message: string;
  readonly since: Date;
}

/** A process that watches a service that is down notes it at least this often. */
const NOTED_S = 120;

export async function noteDown(db: Queryable, account: string, message: string): Promise<void> {
  await db.query(
    `insert into ledger.service_states as s (account, message) values ($1, $2)
     on conflict (account) do update set message = excluded.message, seen_at = clock_timestamp(),
       down_since = case when ${IS_WATCHED} then s.down_since else clock_timestamp() end`,
    [account, message],
  );
}

export async function noteUp(db: Queryable, account: string): Promise<void> {
  await db.query('delete from ledger.service_states where account = $1', [account]);
}

export async function downServices(db: Queryable): Promise<readonly DownService[]> {
  const found = await db.query<DownService>(
    `select account, message, down_since as since from ledger.service_states s where ${IS_WATCHED} order by account`,
  );
  return found.rows;
}

/** SQL: a process still watches service `s`. */
const IS_WATCHED = `s.seen_at > clock_timestamp() - interval '${NOTED_S} s'`;
