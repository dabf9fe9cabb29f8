/** The operations of the API about links. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { makeDirectory } from '../../base/make-directory.ts';
import type { OpenedFile } from '../../csv/receive.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import { listLinks } from '../../mirror/links/list-links.ts';
import { importLinksFrom, unlink } from '../actions/link-actions.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { linkQuery } from './filters.ts';
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
    async work({ pool }, { query: { target, account, q, after, limit } }) {
      const scope = account === undefined ? undefined : await scopeNamed(pool, account);
      const { links, total } = await listLinks(pool, { target, scope, text: q }, limit, after);
      const last = total > links.length ? links.at(-1) : undefined;
      return { links, next: last ? JSON.stringify([last.target, last.account, last.task]) : null };
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
      importLinksFrom(needs, taking, () => textAsFile(needs.dataDir, csv), {
        target,
        account,
        isReplacing: replace,
        isDryRun: dryRun,
      }),
  }),
];

/** A file with this text that is gone once it is closed. */
async function textAsFile(dataDir: string, text: string): Promise<OpenedFile> {
  const dir = path.join(dataDir, 'received');
  await makeDirectory(dir, { mode: 0o700 });
  const file = path.join(dir, randomUUID());
  await fs.writeFile(file, text, { mode: 0o600, flag: 'wx' });
  const handle = await fs.open(file, 'r');
  await fs.rm(file);
  return { name: 'links.csv', handle };
}
