/** Rows without a verdict: sent, not confirmed, or never sent. */
import { AWAITS_CONFIRMATION } from './runs.ts';

/** SQL: outcomes of attempts that may have arrived at the service. */
export const ARRIVED = `('acked', 'unknown', 'lost')`;

/**
 * SQL: reasons of rows whose record may exist although no list shows it as theirs. Later runs do not send them again; a
 * person decides. The records of `UNLISTED` exist.
 */
export const MAY_EXIST = `('GAVE_UP', 'NOT_RECOGNISED', 'NOT_IN_LIST', 'LOST', 'UNLISTED')`;

/**
 * SQL: row `n` of run `run` may have arrived at the service. A chunk holds only rows without a recorded
 * attempt. `offset 0`: looked up for each row; otherwise Postgres may read all attempts of the run for each page of rows.
 */
export const MAY_HAVE_ARRIVED = (run: string, n: string) => `(exists (select from ledger.attempts s
    where s.run_id = ${run} and s.n = ${n} and s.outcome in ${ARRIVED} offset 0)
  or exists (select from ledger.chunks h where h.run_id = ${run} and ${n} = any(h.rows) offset 0))`;

/** SQL: the service has acknowledged row `n` of run `run`. */
export const IS_ACKED = (run: string, n: string) =>
  `exists (select from ledger.attempts s where s.run_id = ${run} and s.n = ${n} and s.outcome = 'acked' offset 0)`;

/** SQL: why a row of run `$1` was not sent. */
export const NOT_SENT = `(select case when status = 'paused' and error_code = '${AWAITS_CONFIRMATION}' then 'AWAITS_APPROVAL'
  else 'NEVER_SENT' end from ledger.runs where id = $1)`;

/** SQL: the reason of row `n` of run `$1`, which has no verdict and no reason of its own. */
export const OPEN_REASON = (n: string) =>
  `case when ${MAY_HAVE_ARRIVED('$1', n)} then 'NOT_CONFIRMED' else ${NOT_SENT} end`;
