/** What people did in the console or through its API. Entries are appended and never changed. */
import { type Queryable, type Stored, withoutNulls } from '../../../storage/queryable.ts';

export interface NewAction {
  /** Name of the user or of the token. */
  readonly who: string;
  readonly via: 'page' | 'api';
  /** Such as `cancel-run`. */
  readonly action: string;
  /** The run or the sync. */
  readonly about: string;
  /** The code of the error if it was not done. */
  readonly refused: string | undefined;
}

export interface TakenAction extends NewAction {
  readonly id: number;
  readonly at: Date;
}

export async function keepAction(db: Queryable, { who, via, action, about, refused }: NewAction): Promise<void> {
  const values = [who, via, action, about, refused];
  await db.query(
    'insert into ledger.console_actions (who, via, action, about, refused) values ($1, $2, $3, $4, $5)',
    values,
  );
}

/** The newest first; `after`: the id of the last entry of the page before. `about`: only of this run or sync. */
export async function listActions(
  db: Queryable,
  { limit, after, about }: { readonly limit: number; readonly after?: number | undefined; readonly about?: string },
): Promise<readonly TakenAction[]> {
  const found = await db.query<Stored<TakenAction>>(
    `select id::float8 as id, at, who, via, action, about, refused from ledger.console_actions
     where ($2::bigint is null or id < $2) and ($3::text is null or about = $3) order by id desc limit $1`,
    [limit, after, about],
  );
  return found.rows.map(withoutNulls<TakenAction>);
}
