import type pg from 'pg';

/** Anything that can be queried: the pool, or one connection inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;
