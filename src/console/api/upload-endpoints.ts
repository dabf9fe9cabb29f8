/** The operations of the API that load a file of orders: sent as the body, read, checked; the run is approved as any other. */
import { z } from 'zod';
import { statementOf } from '../../csv/column-errors.ts';
import { accountNamed } from '../../settings/settings.ts';
import { requireOperator } from '../access/guard.ts';
import { keeping } from '../actions/actions.ts';
import { type LoadForm, loadForm } from '../loads/load-form.ts';
import { atMostBytes, type Upload } from '../loads/uploads.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { done, time } from './shapes.ts';

const ofUpload = z.object({ upload: z.string().describe('The `id` of the upload.') });
const upload = z.looseObject({
  id: z.string(),
  name: z.string(),
  account: z.string(),
  status: z.enum(['here', 'checking', 'failed', 'checked']).describe('`checked`: its rows are stored as `run`.'),
});

export const uploadEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'upload',
    summary: 'Send a file of orders: a CSV, also gzip, as the body; it is kept for a day',
    route: 'POST /uploads',
    query: z.object({
      account: z.string(),
      name: z.string().max(500).prefault('orders.csv').describe('Name of the file.'),
    }),
    isFile: true,
    answer: upload,
    async work(needs, { taking, query: { account, name }, file }) {
      const { uploads, maxBytes } = needs.loads;
      const { upload } = await keeping(needs, taking, 'upload-file', `${name} for ${account}`, async () => {
        accountNamed(needs.settings(), account);
        await uploads.sweep();
        const bytes = file.iterator({ destroyOnReturn: false }); // a client may read a refusal only after the whole file is sent
        const upload = await uploads.keep(await uploads.write(atMostBytes(bytes, maxBytes)), { name, account });
        return { said: `${name} was uploaded.`, upload };
      });
      return { ...upload, status: 'here' };
    },
  }),
  defineEndpoint({
    name: 'uploads',
    summary: 'The files that are not loaded yet, the newest first',
    route: 'GET /uploads',
    answer: z.object({ uploads: z.array(upload.extend({ uploadedAt: time })) }),
    async work(needs, { taking }) {
      requireOperator(taking.person);
      const waiting = await needs.loads.uploads.waiting();
      return {
        uploads: waiting.map(({ upload, uploadedAt, form }) => ({ ...stateOf(needs, upload, form), uploadedAt })),
      };
    },
  }),
  defineEndpoint({
    name: 'upload-state',
    summary: 'How a file is read with these choices, before it is loaded; then the run of its load',
    route: 'GET /uploads/{upload}',
    params: ofUpload,
    query: loadForm,
    answer: upload,
    async work(needs, { taking, params, query }) {
      requireOperator(taking.person);
      const kept = await needs.loads.uploads.read(params.upload);
      return { ...stateOf(needs, kept, query), ...(!kept.checked && (await readingOf(needs, kept, query))) };
    },
  }),
  defineEndpoint({
    name: 'remove-upload',
    summary: 'Delete a file that is not loaded',
    route: 'POST /uploads/{upload}/remove',
    params: ofUpload,
    answer: done,
    work: async ({ loads }, { taking, params }) => loads.remove(await loads.uploads.read(params.upload), taking),
  }),
  defineEndpoint({
    name: 'load-upload',
    summary: 'Check a file and store its rows as a run, which then waits for its approval (act-on-run, resume)',
    route: 'POST /uploads/{upload}/load',
    params: ofUpload,
    body: loadForm,
    answer: upload,
    async work(needs, { taking, params, body }) {
      requireOperator(taking.person);
      await needs.loads.begin(await needs.loads.uploads.read(params.upload), body, taking);
      return stateOf(needs, await needs.loads.uploads.read(params.upload), body);
    },
  }),
];

function stateOf({ loads }: SharedNeeds, kept: Upload, form: LoadForm): object {
  const { id, name, account } = kept;
  const { form: _, ...checked } = kept.checked ?? {};
  const state = loads.stateOf(kept, form);
  if (kept.checked) return { ...checked, id, name, account, status: 'checked', found: kept.checked.status };
  if (state?.status === 'failed') {
    const { code, message } = state.failure;
    return { id, name, account, status: 'failed', error: { code, message } };
  }
  return { id, name, account, ...(state ? { status: state.status, rows: state.rows } : { status: 'here' }) };
}

async function readingOf({ loads }: SharedNeeds, kept: Upload, form: LoadForm): Promise<object> {
  const { table, sheet, problem, firstRows } = await loads.preview(kept, form);
  const fields = sheet?.mapping.columns.map(({ field, name }) => [field, name] as const) ?? [];
  return {
    columns: table.columns,
    fields: Object.fromEntries(fields),
    firstRows: firstRows.slice(0, 5),
    problem: problem ? { code: problem.code, message: statementOf(problem) } : null,
  };
}
