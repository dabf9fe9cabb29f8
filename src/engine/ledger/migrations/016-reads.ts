/** Which reads of a list the records come from: as unlogged as the records, so that a crash of the database empties both. */
import type { Migration } from '../../../database/migrate.ts';

export const reads: Migration = {
  name: '016-reads',
  sql: `
    create unlogged table ledger.reads (
      run_id text not null,
      kind text not null check (kind in ('customer', 'order')),
      pass int not null,
      primary key (run_id, kind, pass)
    );

    create or replace function ledger.forget_run() returns trigger language plpgsql as $$
      begin
        delete from ledger.inputs where run_id = old.id;
        delete from ledger.matches where run_id = old.id;
        delete from ledger.plans where run_id = old.id;
        delete from ledger.again where run_id = old.id;
        delete from ledger.attempts where run_id = old.id;
        delete from ledger.verdicts where run_id = old.id;
        delete from ledger.former_verdicts where run_id = old.id;
        delete from ledger.records where run_id = old.id;
        delete from ledger.reads where run_id = old.id;
        return null;
      end $$;
  `,
};
