/** What makes the sample workspace as hard to import as a real one, in numbers and examples. */
import type { Queryable } from '../../engine/ledger/runs.ts';

export interface Traits {
  readonly contacts: number;
  readonly withoutEmail: number;
  /** Contacts whose e-mail another one has too, and one such e-mail. */
  readonly sharingEmail: number;
  readonly sharedEmail: string | null;
  /** Contacts whose e-mail is spelt with capitals or blanks. */
  readonly oddlySpelt: number;
  /** Names that are not all ASCII, and a few of them. */
  readonly beyondAscii: number;
  readonly names: readonly string[];
}

/** Reads the service's own tables: the demo shows what is there before Lockstep has looked. */
export async function readTraits(db: Queryable, tenantId: number): Promise<Traits> {
  const found = await db.query<Traits>(
    `with contact as (
       select fields->>'email' as written, nullif(lower(trim(fields->>'email')), '') as email,
         concat_ws(' ', fields->>'first_name', fields->>'last_name') as name, id
       from service.contacts where tenant_id = $1
     ), counted as (
       select *, case when email is not null then count(*) over (partition by email) else 0 end as sharing from contact
     )
     select count(*)::int as contacts,
       (count(*) filter (where email is null))::int as "withoutEmail",
       (count(*) filter (where sharing > 1))::int as "sharingEmail",
       min(email) filter (where sharing > 2) as "sharedEmail",
       (count(*) filter (where email <> written))::int as "oddlySpelt",
       (count(*) filter (where name ~ '[^ -~]'))::int as "beyondAscii",
       (array_agg(name order by id) filter (where name ~ '[^ -~]'))[1:3] as names
     from counted`,
    [tenantId],
  );
  const [traits] = found.rows;
  if (!traits) throw new Error('an aggregate without rows'); // cannot be: it has no group by
  return traits;
}
