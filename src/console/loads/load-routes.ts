/** The forms that upload a file and load it. A file is written to disk while it arrives. */
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LockstepError } from '../../base/errors.ts';
import type { OpenedFile } from '../../csv/receive.ts';
import { RESULT_KINDS } from '../../csv/result-files.ts';
import { accountNamed, type Settings } from '../../settings/settings.ts';
import { requireOperator, requirePerson } from '../access/guard.ts';
import { approveTyped, keeping } from '../actions/actions.ts';
import { say } from '../forms/flash-message.ts';
import { onForm, submittedForm, takingOf, tell } from '../forms/forms.ts';
import { addressOf } from '../parts/parts.tsx';
import { readGiven } from '../read-given.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import { correctLoad } from './correct.ts';
import type { Fixes } from './fixes.ts';
import { loadForm } from './load-form.ts';
import type { Loads } from './loads.ts';
import { MAX_TEXT_BYTES, readParts } from './multipart.ts';
import { nothingSent, UPLOAD_TIMEOUT_MS, type Upload } from './uploads.ts';

const ofRun = z.object({ run: z.string() });
const ofUpload = z.object({ upload: z.string() });
const fields = z.object({ account: z.string().min(1), text: z.string().prefault('') });
const replacement = z.object({ column: z.coerce.number().int().min(0).optional(), find: z.string(), put: z.string() });

export async function addLoads(app: FastifyInstance, needs: SharedNeeds): Promise<void> {
  const { loads, settings } = needs;
  await app.register(multipart, {
    throwFileSizeLimit: false,
    limits: { files: 1, fields: 5, parts: 6, fieldSize: MAX_TEXT_BYTES, fileSize: loads.maxBytes },
  });

  app.post('/load', { config: { bodyTimeoutMs: UPLOAD_TIMEOUT_MS } }, async (request, reply) => {
    const taking = takingOf(request);
    const given: Record<string, string> = {};
    try {
      const { upload } = await keeping(needs, taking, 'upload-file', 'a file', async () => {
        await loads.uploads.sweep();
        const upload = await take(request, loads, settings(), given);
        const { name, account } = upload;
        return { said: `${name} was uploaded.`, about: `${name} for ${account}`, upload };
      });
      return reply.redirect(`/load/${upload.id}`, 303);
    } catch (error) {
      if (!(error instanceof LockstepError) || error.code === 'CONSOLE_NOT_ALLOWED') throw error;
      say(reply, { tone: 'bad', text: error.message });
      return reply.redirect(addressOf('/load', { account: given.account }), 303);
    }
  });

  onForm(app, '/load/:upload/remove', async ({ taking, params, reply }) => {
    const upload = await loads.uploads.read(readGiven(ofUpload, params).upload);
    await tell(reply, needs, () => loads.remove(upload, taking));
    return '/load';
  });

  onForm(app, '/load/:upload', async ({ taking, params, given, reply }) => {
    requireOperator(taking.person);
    const { upload: id } = readGiven(ofUpload, params);
    try {
      await loads.begin(await loads.uploads.read(id), readGiven(loadForm, given), taking);
    } catch (error) {
      if (!(error instanceof LockstepError) || error.code !== 'LOAD_BEGUN') throw error;
      say(reply, { tone: 'bad', text: error.message });
    }
    return `/load/${id}?${new URLSearchParams(given)}`;
  });

  onForm(app, '/runs/:run/approve', async ({ taking, params, given, reply }) => {
    const { run: id } = readGiven(ofRun, params);
    const typed = { typed: given.writes ?? '', seen: given.plan ?? '' };
    const done = await tell(reply, needs, () => approveTyped(needs, taking, id, typed));
    return done?.refused === undefined ? `/runs/${id}` : `/runs/${id}/approve`;
  });

  onForm(app, '/runs/:run/fix', async ({ taking, params, request }) => {
    const { run: id } = readGiven(ofRun, params);
    const form = submittedForm(request);
    const how = { fixes: fixesIn(form), createsCustomers: form.get('customers') === 'yes' };
    const corrected = await correctLoad(needs, taking, id, how);
    return addressOf(`/load/${corrected.upload.id}`, corrected.form);
  });

  app.get('/runs/:run/results/:kind', async (request, reply) => {
    requirePerson(request);
    const { run: id, kind } = readGiven(ofRun.extend({ kind: z.enum(RESULT_KINDS) }), request.params);
    return sendFile(reply, await loads.resultOf(id, kind));
  });

  app.get('/load/:upload/file', async (request, reply) => {
    requireOperator(requirePerson(request));
    const { upload: id } = readGiven(ofUpload, request.params);
    return sendFile(reply, await loads.uploads.open(await loads.uploads.read(id)));
  });
}

function sendFile(reply: FastifyReply, { name, handle }: OpenedFile): FastifyReply {
  reply.type('text/csv').header('content-disposition', `attachment; filename*=UTF-8''${headerWord(name)}`);
  return reply.send(handle.createReadStream());
}

function fixesIn(form: URLSearchParams): Fixes {
  const { column, find, put } = readGiven(replacement, {
    column: form.get('column') || undefined,
    find: form.get('find') ?? '',
    put: form.get('put') ?? '',
  });
  const cells = new Map([...form].filter(([name]) => name.startsWith('cell.')));
  return { cells, replacement: column === undefined ? undefined : { column, find, put } };
}

/** As RFC 8187 writes values of headers. */
function headerWord(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** `given` receives the fields of the form. @throws LockstepError UPLOAD_TOO_LARGE, UPLOAD_EMPTY, DISK_FULL, SETTINGS_NAME_UNKNOWN */
async function take(
  request: FastifyRequest,
  { uploads, maxBytes }: Loads,
  settings: Settings,
  given: Record<string, string>,
): Promise<Upload> {
  const { file } = await readParts(request, uploads, maxBytes, given);
  try {
    const { account: asked, text } = readGiven(fields, given);
    const account = accountNamed(settings, asked).name;
    if (file) return await uploads.keep(file.id, { name: file.name, account });
    if (text.trim() === '') throw nothingSent();
    return await uploads.keep(await uploads.write([Buffer.from(text)]), { name: 'pasted.csv', account });
  } catch (error) {
    if (file) await uploads.remove(file.id);
    throw error;
  }
}
