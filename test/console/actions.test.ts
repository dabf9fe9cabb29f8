import type pg from 'pg';
import { expect, test } from 'vitest';
import { keeping } from '../../src/console/actions/actions.ts';

test('an action that was done, but could not be kept, is not kept as refused', async () => {
  let kept = 0;
  const query = async () => {
    kept += 1;
    throw new Error('the database is away');
  };
  const pool = { query } as unknown as pg.Pool; // all that is used of it
  const taking = { person: { name: 'Ann', role: 'operator' }, via: 'page' } as const;
  const acting = keeping({ pool }, taking, 'cancel-run', 'run-1', async () => ({ said: 'Done.' }));
  await expect(acting).rejects.toThrow('the database is away');
  expect(kept).toBe(1);
});
