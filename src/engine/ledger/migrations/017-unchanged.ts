/** Contacts that have not changed need no rows: their links say what they were. And the customers before a run's first write. */
import type { Migration } from '../../../database/migrate.ts';

export const unchanged: Migration = {
  name: '017-unchanged',
  sql: `
    -- What the contact with this content hash was: label, email, phone, name, org. Null: the contact becomes a row of the next run.
    alter table ledger.links add contact jsonb;

    -- Ids of the customers that the list showed before the first write of a run, as hashes (src/customers/baseline.ts).
    create table ledger.baselines (
      run_id text not null references ledger.runs on delete cascade,
      part int not null,
      ids bytea not null,
      primary key (run_id, part)
    );

    -- The row of a debt by its number.
    alter table ledger.audit_debts add n bigint;
    update ledger.audit_debts d set n = i.n from ledger.inputs i
      where i.run_id = d.run_id and coalesce(i.source_id, i.n::text) = d.source_id;
  `,
};
