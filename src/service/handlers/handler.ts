/** The interface of every handler: it receives one typed call of the contract and returns a tagged result. */
import type { z } from 'zod';
import type { OperationName, operations } from '../../contract/operations.ts';
import type { ImportForm } from '../import-body.ts';
import type { Paging } from '../paging.ts';
import type { Result } from '../result.ts';
import type { Records } from '../store/records.ts';

type Table = typeof operations;
type BodyOf<N extends OperationName> = Table[N] extends { readonly body: infer B extends z.ZodObject }
  ? z.output<B>
  : undefined;

/** One call, checked against the operations table. */
export interface Call<N extends OperationName> {
  readonly params: z.output<Table[N]['params']>;
  readonly query: z.output<Table[N]['query']>;
  readonly body: BodyOf<N>;
  /** The records of the calling tenant, and of no other tenant. */
  readonly records: Records;
}

export type Handler<N extends OperationName> = (call: Call<N>) => Promise<Result>;
export type Handlers = { readonly [N in OperationName]: Handler<N> };

/** The choices that affect handlers; the dialect makes all other choices about answers. */
export interface Choices {
  readonly paging: Paging;
  readonly importForm: ImportForm | undefined;
  readonly importTwice: 'create' | 'refuse';
}
