/** What an operation of the service's contract is. operations.ts lists all of them. */
import type { z } from 'zod';

/** Both spellings the contract documents; the first is the one its request examples use. */
export const PREFIXES = ['/api/v1', '/v1'] as const;
export type Prefix = (typeof PREFIXES)[number];

export type Method = 'GET' | 'POST' | 'PUT';

export interface Operation {
  readonly summary: string;
  readonly method: Method;
  /** A second documented method (mark-complete: GET in its heading, PUT in its example). */
  readonly otherMethod?: Method;
  /** Under the prefix, with `{name}` for path parameters. */
  readonly path: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body?: z.ZodObject;
  /** What our service puts into `content`; absent if the contract shows none. */
  readonly result?: z.ZodType;
  /** `paged`: by page number. `all`: in one answer. Absent: the answer is not a list. */
  readonly list?: 'paged' | 'all';
  /** Sending it twice has the same effect as sending it once. */
  readonly repeatable: boolean;
  /** The operation that shows whether it was applied, if there is one. */
  readonly readBack?: string;
}
