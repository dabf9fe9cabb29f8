/** How much the slow tests try: a little with the other tests, everything with the long ones, `npm run test:chaos`. */

const TIMES = Number(process.env.PROPERTY_RUNS ?? 1);

/**
 * Options of `fc.assert`. The suite tries the same few worlds each time, so that one commit has one result; the long tests
 * try many, of a new seed.
 */
export function runs(numRuns: number): { readonly numRuns: number; readonly seed?: number } {
  return TIMES > 1 ? { numRuns: numRuns * TIMES } : { numRuns, seed: 1 };
}

/** All cases with the long tests; otherwise the few. */
export function byLength<T>({ few, all }: Readonly<Record<'few' | 'all', T>>): T {
  return TIMES > 1 ? all : few;
}
