/** Conditions in SQL on deliveries: which are states of one task, which is older, and what may still happen. */

/**
 * SQL: the deliveries of these two aliases are states of one task, for one target. `from` is known, and the other one is looked up,
 * among those of all syncs that have read the tasks of this scope: a sync may have had another name before.
 */
export function isSameTask(found: string, from: string): string {
  const syncs = `array(select distinct sync from ledger.task_lists l where l.scope = ${from}.scope) || ${from}.sync`;
  const same = ['target', 'scope', 'kind', 'task_id'].map((key) => `${found}.${key} = ${from}.${key}`);
  return [...same, `${found}.sync = any(${syncs})`].join(' and ');
}

/** SQL: of two deliveries of one task, `one` is the older state. Each sync counts the states on its own. */
export function isOlder(one: string, other: string): string {
  const byCount = `${one}.sequence < ${other}.sequence`;
  return `case when ${one}.sync = ${other}.sync then ${byCount} else ${one}.created_at < ${other}.created_at end`;
}

/** SQL: `o` is newer than `d`, and the target receives it, so it can replace `d`. */
export const IS_NEWER = `${isSameTask('o', 'd')} and ${isOlder('d', 'o')} and o.reason is distinct from 'FILTERED'`;

/** Longer than the timeouts of common gateways and of the programs behind them. */
const LATE_SECONDS = 60;

/**
 * SQL: until when the target may make the change of an attempt that ended at this time without a clear answer, after it has shown the
 * earlier state to the next delivery. A newer delivery of the task waits until then.
 */
export function unclearUntil(unclearAt: string): string {
  return `${unclearAt} + interval '${LATE_SECONDS} s'`;
}
