/** The forms of the page of links. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { visibleName } from '../../base/visible.ts';
import { shortName } from '../../csv/file-names.ts';
import { linkLines } from '../../operator/link-export.ts';
import { requireOperator, requirePerson } from '../access/guard.ts';
import { importLinksFrom, unlink } from '../actions/link-actions.ts';
import { linkQuery, toLinkFilter } from '../api/filters.ts';
import { readParts } from '../loads/multipart.ts';
import { UPLOAD_TIMEOUT_MS } from '../loads/uploads.ts';
import { filledIn } from '../page.ts';
import { addressOf } from '../parts/parts.tsx';
import { readGiven } from '../read-given.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import { onForm, takingOf, tell } from './forms.ts';

const removed = z.object({ target: z.string(), account: z.string(), task: z.string() });
const imported = z.object({
  target: z.string(),
  account: z.string(),
  text: z.string().prefault(''),
  replace: z.literal('yes').optional(),
  dry: z.literal('yes').optional(),
  /** The upload that was checked, and its own name. */
  file: z.uuid().optional(),
  name: z.string().prefault('links.csv'),
});

export function addLinkForms(app: FastifyInstance, needs: SharedNeeds): void {
  const { uploads, maxBytes } = needs.loads;
  onForm(app, '/links/remove', async ({ taking, given, reply }) => {
    const link = readGiven(removed, given);
    await tell(reply, needs, () => unlink(needs, taking, link));
    return '/links';
  });
  app.post('/links/import', { config: { bodyTimeoutMs: UPLOAD_TIMEOUT_MS } }, async (request, reply) => {
    const taking = takingOf(request);
    let next = '/links';
    await tell(reply, needs, async () => {
      requireOperator(taking.person);
      const sent = await readParts(request, uploads, maxBytes);
      const { target, account, text, replace, dry, file: id, name } = readGiven(imported, sent.given);
      const isDryRun = dry === 'yes';
      const file = sent.file ?? { id: id ?? (await uploads.write([Buffer.from(text)])), name };
      try {
        const form = { target, account, isReplacing: replace === 'yes', isDryRun };
        const done = await importLinksFrom(needs, taking, () => uploads.open(file), form);
        const shown = shortName(visibleName(file.name));
        if (isDryRun) next = addressOf('/links', { target, account, file: file.id, name: shown, replace });
        return done;
      } finally {
        if (next === '/links') await uploads.remove(file.id);
      }
    });
    return reply.redirect(next, 303);
  });
  app.get('/links.csv', async (request, reply) => {
    requirePerson(request);
    const query = readGiven(linkQuery, filledIn(Object(request.query)));
    const lines = linkLines(needs.pool, await toLinkFilter(needs.pool, query));
    reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="links.csv"');
    return reply.send(Readable.from(lines));
  });
}
