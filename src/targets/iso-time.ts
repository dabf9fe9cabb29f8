/** A time in whole seconds, `2026-03-01T12:00:00Z`: the one form that every vendor reads. */
export function isoSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
