/** SQL: the deliveries of these two aliases are states of one task, counted by one sync, for one target. */
export function isSameTask(one: string, other: string): string {
  return ['target', 'scope', 'sync', 'kind', 'task_id'].map((key) => `${one}.${key} = ${other}.${key}`).join(' and ');
}

/** SQL: `o` is newer than `d`, and the target receives it, so it can replace `d`. */
export const IS_NEWER = `${isSameTask('o', 'd')} and o.sequence > d.sequence and o.reason is distinct from 'FILTERED'`;
