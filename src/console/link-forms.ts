/** The forms of the page of links. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { makeDirectory } from '../base/make-directory.ts';
import type { OpenedFile } from '../csv/receive.ts';
import { plainText } from './api/review-query.ts';
import { formOf, tell } from './forms.ts';
import { requirePerson } from './guard.ts';
import { importLinksFrom, unlink } from './link-actions.ts';
import type { ConsoleNeeds } from './needs.ts';

const removed = z.object({ target: plainText, account: plainText, task: plainText });
const imported = z.object({
  target: plainText,
  account: plainText,
  text: z.string(),
  replace: z.literal('yes').optional(),
  dry: z.literal('yes').optional(),
});

export function addLinkForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  app.post('/links/remove', async (request, reply) => {
    const taking = { person: requirePerson(request), via: 'page' } as const;
    const link = removed.parse(Object.fromEntries(formOf(request)));
    await tell(reply, needs, () => unlink(needs, taking, link));
    return reply.redirect('/links', 303);
  });
  app.post('/links/import', async (request, reply) => {
    const taking = { person: requirePerson(request), via: 'page' } as const;
    const { target, account, text, replace, dry } = imported.parse(Object.fromEntries(formOf(request)));
    const form = { target, account, isReplacing: replace === 'yes', isDryRun: dry === 'yes' };
    await tell(reply, needs, () => importLinksFrom(needs, taking, () => textAsFile(needs.dataDir, text), form));
    return reply.redirect('/links', 303);
  });
}

/** A file with this text that is gone once it is closed. */
export async function textAsFile(dataDir: string, text: string): Promise<OpenedFile> {
  const dir = path.join(dataDir, 'received');
  await makeDirectory(dir, { mode: 0o700 });
  const file = path.join(dir, randomUUID());
  await fs.writeFile(file, text, { mode: 0o600, flag: 'wx' });
  const handle = await fs.open(file, 'r');
  await fs.rm(file);
  return { name: 'links.csv', handle };
}
