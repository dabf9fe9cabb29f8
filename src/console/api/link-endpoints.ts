/** The operations of the API about links. */
import { z } from 'zod';
import type { OpenedFile } from '../../csv/receive.ts';
import { importLinksFrom, unlink } from '../actions/link-actions.ts';
import type { Uploads } from '../loads/uploads.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { linkQuery, pageOfLinks } from './filters.ts';
import { done, limit, next } from './shapes.ts';

const text = z.string().max(200);

export const linkEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'links',
    summary: 'Which task is linked with which item of a target, the newest first',
    route: 'GET /links',
    query: linkQuery.extend({ limit }),
    answer: z.object({
      links: z.array(z.looseObject({ target: z.string(), task: z.string(), itemId: z.string() })),
      next,
    }),
    async work({ pool }, { query }) {
      const { links, next } = await pageOfLinks(pool, query, query.limit);
      return { links, next };
    },
  }),
  defineEndpoint({
    name: 'act-on-link',
    summary: 'Remove the link of a task; the item does not change',
    route: 'POST /links/remove',
    body: z.object({
      target: text,
      account: text.describe('Account of the task, as the list of links names it.'),
      task: text.describe('Such as task:12.'),
    }),
    answer: done,
    work: (needs, { taking, body }) => unlink(needs, taking, body),
  }),
  defineEndpoint({
    name: 'import-links',
    summary: 'Link many tasks with items, from the lines of a CSV of at most 1 MiB; refused lines are skipped',
    route: 'POST /links/import',
    body: z.object({
      target: text,
      account: text,
      csv: z.string().describe('Lines with the header, such as task_id,item_id.'),
      replace: z.boolean().prefault(false).describe('Replace existing links.'),
      dryRun: z.boolean().prefault(false).describe('Check everything, and write nothing.'),
    }),
    answer: done,
    work: (needs, { taking, body: { target, account, csv, replace, dryRun } }) =>
      importLinksFrom(needs, taking, () => textAsFile(needs.loads.uploads, csv), {
        target,
        account,
        isReplacing: replace,
        isDryRun: dryRun,
      }),
  }),
];

/** A file with this text that is gone once it is closed. */
async function textAsFile(uploads: Uploads, text: string): Promise<OpenedFile> {
  const id = await uploads.write([Buffer.from(text)]);
  const file = await uploads.open({ id, name: 'links.csv' });
  await uploads.remove(id);
  return file;
}
