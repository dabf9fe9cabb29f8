/** How often a slow property is tried with other inputs: a little with the core tests, much with the long ones. */

/** Options of `fc.assert`. `npm run test:chaos` multiplies the number of runs. */
export function runs(numRuns: number): { readonly numRuns: number } {
  return { numRuns: numRuns * Number(process.env.PROPERTY_RUNS ?? 1) };
}
