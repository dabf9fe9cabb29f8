/** Who is signed in to the console. A session outlives the process, and ends in all processes at once. */
import type { Queryable } from '../../../storage/queryable.ts';

export interface ConsoleSession {
  readonly who: string;
  readonly proof: Buffer;
}

/** Also deletes the sessions that have expired. */
export async function keepSession(
  db: Queryable,
  id: Buffer,
  { who, proof }: ConsoleSession,
  lastsMs: number,
): Promise<void> {
  await db.query('delete from ledger.console_sessions where expires_at < clock_timestamp()');
  await db.query(
    `insert into ledger.console_sessions (id, who, proof, expires_at)
     values ($1, $2, $3, clock_timestamp() + $4::float8 * interval '1 ms')`,
    [id, who, proof, lastsMs],
  );
}

/** Undefined if there is none, or if it has expired. */
export async function readSession(db: Queryable, id: Buffer): Promise<ConsoleSession | undefined> {
  const found = await db.query<ConsoleSession>(
    'select who, proof from ledger.console_sessions where id = $1 and expires_at > clock_timestamp()',
    [id],
  );
  return found.rows[0];
}

export async function endSession(db: Queryable, id: Buffer): Promise<void> {
  await db.query('delete from ledger.console_sessions where id = $1', [id]);
}
