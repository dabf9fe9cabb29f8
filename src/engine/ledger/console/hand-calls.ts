/**
 * Writes that people make by hand. A call is stored before it is sent: after a crash its outcome is unknown, and it is not
 * sent again by itself. Content that must not be sent twice is held by its call (`open_content`) until a person wants it again.
 */
import { createHash } from 'node:crypto';
import type { OperationName } from '../../../contract/operations.ts';
import type { Queryable } from '../../../storage/queryable.ts';

export interface NewHandCall {
  readonly id: string;
  readonly who: string;
  readonly scope: string;
  readonly account: string;
  readonly operation: OperationName;
  readonly path: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The page to return to. */
  readonly page: string;
  /** Sent twice, it has the effect of one. */
  readonly isRepeatable: boolean;
  /** The applied call whose content is wanted a second time, or any such call. */
  readonly besides?: string | undefined;
}

export interface HandCall extends Omit<NewHandCall, 'isRepeatable' | 'besides'> {
  readonly at: Date;
  /** Null while it is being sent, and if the process ended before the answer. */
  readonly endedAt: Date | null;
  readonly status: HandCallEnd['status'] | null;
  readonly httpStatus: number | null;
  readonly message: string | null;
  readonly found: HandCallFound | null;
}

export type HandCallFound = 'applied' | 'absent';

/** How long calls whose outcome is known are kept. */
const KEPT = '7 days';

const APPLIED = `coalesce(found, status, 'unknown') = 'applied'`;

const COLUMNS = `id, at, who, scope, account, operation, path, body, page, ended_at as "endedAt", status,
  http_status as "httpStatus", message, found`;

/**
 * Stores a call that is about to be sent. `known`: it must not be sent, because this call, or one with the same content that
 * was applied or has an unknown outcome, is there already.
 */
export async function claimHandCall(
  db: Queryable,
  call: NewHandCall,
): Promise<{ readonly status: 'new' } | { readonly status: 'known'; readonly call: HandCall }> {
  const { id, who, scope, account, operation, path, body, page, isRepeatable, besides } = call;
  const texts = [JSON.stringify(path), JSON.stringify(body ?? null)];
  const content = createHash('sha256')
    .update(JSON.stringify([operation, ...texts]))
    .digest('base64url');
  await db.query(
    `delete from ledger.hand_calls where at < clock_timestamp() - interval '${KEPT}' and (open_content is null or ${APPLIED})`,
  );
  if (besides !== undefined) await release(db, scope, content, besides);
  const stored = await db.query(
    `insert into ledger.hand_calls (id, who, scope, account, operation, path, body, page, open_content)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [id, who, scope, account, operation, ...texts, page, isRepeatable ? null : content],
  );
  if (stored.rowCount === 1) return { status: 'new' };
  const found = await db.query<Stored>(
    `select ${COLUMNS} from ledger.hand_calls where id = $1 or (scope = $2 and open_content = $3) order by id = $1 desc`,
    [id, scope, content],
  );
  const [row] = found.rows;
  return row ? { status: 'known', call: read(row) } : claimHandCall(db, call); // the other call has ended meanwhile
}

/** What was applied, and is wanted a second time, may be sent again. */
async function release(db: Queryable, scope: string, content: string, besides: string): Promise<void> {
  await db.query(
    `update ledger.hand_calls set open_content = null where scope = $1 and open_content = $2 and ${APPLIED}
       and $3 in (id::text, 'any')`,
    [scope, content, besides],
  );
}

export interface HandCallEnd {
  readonly status: 'applied' | 'refused' | 'limited' | 'not-sent' | 'unknown';
  readonly httpStatus: number | undefined;
  readonly message: string | undefined;
}

/** Notes the outcome of a call. Only if nothing was applied, the same content may be sent again. */
export async function endHandCall(db: Queryable, id: string, end: HandCallEnd): Promise<void> {
  const { status, httpStatus, message } = end;
  await db.query(
    `update ledger.hand_calls set ended_at = clock_timestamp(), status = $2, http_status = $3, message = $4,
       open_content = case when $2 in ('unknown', 'applied') then open_content end where id = $1`,
    [id, status, httpStatus, message],
  );
}

/** Notes what a person found out about an unknown outcome; false if another person was first. */
export async function settleHandCall(db: Queryable, id: string, found: HandCallFound): Promise<boolean> {
  const settled = await db.query(
    `update ledger.hand_calls set found = $2, open_content = case when $2 = 'applied' then open_content end
     where id = $1 and found is null
       and coalesce(status, 'unknown') = 'unknown'`,
    [id, found],
  );
  return settled.rowCount === 1;
}

/** Undefined if there is none with this id. */
export async function readHandCall(db: Queryable, id: string): Promise<HandCall | undefined> {
  const found = await db.query<Stored>(`select ${COLUMNS} from ledger.hand_calls where id = $1`, [id]);
  return found.rows[0] && read(found.rows[0]);
}

/** The calls of a tenant whose outcome is not known, the oldest first. */
export async function openHandCalls(db: Queryable, scope: string): Promise<readonly HandCall[]> {
  const found = await db.query<Stored>(
    `select ${COLUMNS} from ledger.hand_calls where scope = $1 and open_content is not null and not ${APPLIED} order by at`,
    [scope],
  );
  return found.rows.map(read);
}

type Stored = Omit<HandCall, 'path' | 'body'> & { readonly path: string; readonly body: string };

/** Safe: `claimHandCall` wrote them. */
function read({ path, body, ...row }: Stored): HandCall {
  return { ...row, path: JSON.parse(path), body: JSON.parse(body) ?? undefined };
}
