/** Rows that a test arranges by hand: writes to the view ledger.rows are stored as the ledger stores such a row. */
import type pg from 'pg';

const writable = new WeakSet<pg.Pool>();

export async function makeRowsWritable(pool: pg.Pool): Promise<void> {
  if (writable.has(pool)) return;
  writable.add(pool);
  await pool.query(`
    create function ledger.write_row() returns trigger language plpgsql as $$
    declare
      v_next bigint;
      v_is_orders boolean;
    begin
      if tg_op = 'DELETE' then
        delete from ledger.inputs where run_id = old.run_id and n = old.n;
        delete from ledger.matches where run_id = old.run_id and n = old.n;
        delete from ledger.plans where run_id = old.run_id and n = old.n;
        delete from ledger.again where run_id = old.run_id and n = old.n;
        delete from ledger.attempts where run_id = old.run_id and n = old.n;
        delete from ledger.verdicts where run_id = old.run_id and n = old.n;
        return old;
      end if;
      select next_n, job = 'orders' into v_next, v_is_orders from ledger.runs where id = new.run_id;
      if tg_op = 'INSERT' then
        insert into ledger.inputs (run_id, n, source_id, label, email, phone, name, org, hash, client_id, fields, customer, cells)
          values (new.run_id, new.n, nullif(new.source_id, new.n::text), new.label, new.email, new.phone, new.name, new.org,
            new.hash, new.client_id, new.fields, new.customer, new.cells);
      else
        if (new.label, new.email, new.phone, new.name, new.org, new.hash, new.customer, new.cells::text, new.n)
            is distinct from (old.label, old.email, old.phone, old.name, old.org, old.hash, old.customer, old.cells::text, old.n)
            or (new.fields is distinct from old.fields and new.action is distinct from 'update') then
          update ledger.inputs set label = new.label, email = new.email, phone = new.phone, name = new.name, org = new.org,
            hash = new.hash, customer = new.customer, cells = new.cells, fields = new.fields, n = new.n
            where run_id = old.run_id and n = old.n;
        end if;
        if new.client_id is distinct from old.client_id then
          if new.client_id is null then
            delete from ledger.matches where run_id = new.run_id and n = new.n and kind = 'customer';
          else
            insert into ledger.matches values (new.run_id, new.n, 'customer', new.client_id, 'told')
              on conflict (run_id, n, kind) do update set record_id = excluded.record_id;
          end if;
        end if;
      end if;
      if new.record_id is null then
        delete from ledger.matches where run_id = new.run_id and n = new.n
          and kind = case when v_is_orders then 'order' else 'customer' end;
      else
        insert into ledger.matches values (new.run_id, new.n, case when v_is_orders then 'order' else 'customer' end, new.record_id, 'told')
          on conflict (run_id, n, kind) do update set record_id = excluded.record_id;
      end if;
      if new.state = 'settled' and new.verdict is not null then
        insert into ledger.former_verdicts (run_id, n, verdict, reason, facts, record_id, at)
          select run_id, n, verdict, reason, facts, record_id, at from ledger.verdicts where run_id = new.run_id and n = new.n;
        insert into ledger.verdicts (run_id, n, verdict, reason, facts, record_id)
          values (new.run_id, new.n, new.verdict, new.reason,
            new.facts, new.record_id)
          on conflict (run_id, n) do update set verdict = excluded.verdict, reason = excluded.reason, facts = excluded.facts,
            record_id = excluded.record_id, at = excluded.at;
      else
        delete from ledger.verdicts where run_id = new.run_id and n = new.n;
      end if;
      if new.state = 'staged' or new.action is null then
        delete from ledger.plans where run_id = new.run_id and n = new.n;
        delete from ledger.again where run_id = new.run_id and n = new.n;
      else
        insert into ledger.plans (run_id, n, action, record_id, fields)
          values (new.run_id, new.n, new.action, new.record_id, case when new.action = 'update' then new.fields end)
          on conflict (run_id, n) do update set action = excluded.action, record_id = excluded.record_id, fields = excluded.fields;
      end if;
      if new.state = 'ready' and new.n < v_next then
        insert into ledger.again values (new.run_id, new.n) on conflict do nothing;
      elsif new.state in ('acked', 'unknown', 'intent') then
        delete from ledger.again where run_id = new.run_id and n = new.n;
        if new.n >= v_next then
          insert into ledger.again select run_id, n from ledger.plans
            where run_id = new.run_id and n >= v_next and n < new.n on conflict do nothing;
          update ledger.runs set next_n = new.n + 1 where id = new.run_id;
        end if;
      end if;
      if (new.state in ('acked', 'unknown') or coalesce(new.sends, 0) > 0) and (tg_op = 'INSERT'
          or (new.state, new.since, new.sends, new.reason) is distinct from (old.state, old.since, old.sends, old.reason)) then
        insert into ledger.attempts (run_id, n, at, action, outcome, sends, reason, facts)
          values (new.run_id, new.n, coalesce(new.since, clock_timestamp()), new.action,
            case when new.state in ('acked', 'unknown') then new.state else 'unsent' end, coalesce(new.sends, 0),
            case when new.state <> 'settled' then new.reason end,
            case when new.state <> 'settled' then new.facts end);
      end if;
      return new;
    end $$;
    create trigger write_row instead of insert or update or delete on ledger.rows
      for each row execute function ledger.write_row();
  `);
}
