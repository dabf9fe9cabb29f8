/** How much the slow tests try: a little with the other tests, everything with the long ones, `npm run test:chaos`. */

const TIMES = Number(process.env.PROPERTY_RUNS ?? 1);

/** Options of `fc.assert`. The long tests multiply the number of runs. */
export function runs(numRuns: number): { readonly numRuns: number } {
  return { numRuns: numRuns * TIMES };
}

/** All cases with the long tests; otherwise the few. */
export function byLength<T>({ few, all }: Readonly<Record<'few' | 'all', T>>): T {
  return TIMES > 1 ? all : few;
}
