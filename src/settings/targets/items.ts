/** The settings that the targets with items of their own (issues, tasks) share: their address, creating, columns, their calls. */
import { z } from 'zod';
import { baseUrl, secret, textAs } from '../fields.ts';

/** The address of a vendor, which a proxy or a server of one's own may stand in for. */
export const vendorUrl = textAs(baseUrl);

export const create = z
  .boolean()
  .prefault(false)
  .describe('Create the item of a task that is linked with none. Default: false, such a task is skipped.');

const BY_COLUMN =
  'What a card in a column is at the target, by the name of the column. Default: what the sync says is done is completed.';

/** For systems that know completed and open, and nothing else. */
export const columns = z
  .record(z.string(), z.enum(['completed', 'open']))
  .prefault({})
  .describe(BY_COLUMN);

/** For systems whose items have a status with a name. */
export const namedColumns = z
  .record(z.string(), z.string().min(1))
  .prefault({})
  .describe(`${BY_COLUMN} completed, open, or the name of a status.`);

export const hookSecret = secret
  .optional()
  .describe('Secret of the webhook by which changes there come back; without one no such call is accepted.');

/** For `.check`: creating needs to know where. */
export function neededToCreate<Key extends string>(key: Key) {
  return z.refine<{ readonly create: boolean } & { readonly [K in Key]?: unknown }>(
    (value) => !value.create || value[key] !== undefined,
    { error: `missing: create: true needs to know the ${key}`, path: [key] },
  );
}
