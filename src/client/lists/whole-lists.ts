/** Common page sizes. Larger ones are multiples of 500. */
const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250]);

/** Whether a list of this many records may be the first page of a longer one. */
export function isPageSize(records: number): boolean {
  return PAGE_SIZES.has(records) || (records > 0 && records % 500 === 0);
}
