/** Load a file, second step: how it is read, which column fills which field, and the options. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { type ColumnChoice, type Reading as EncodedText, statementOf, UnclearFile } from '../../csv/column-errors.ts';
import { referenceTo } from '../../csv/column-names.ts';
import { formatBytes } from '../../operator/format.ts';
import { checkedWords, columnLabel } from '../../operator/sheet-words.ts';
import type { Preview } from '../../syncs/orders/preview-load.ts';
import { requireOperator } from '../access/guard.ts';
import { type Failure, pageFailure } from '../failures.ts';
import { columnValue, commandOf, type LoadForm, loadForm, NO_COLUMN } from '../loads/load-form.ts';
import type { LoadState } from '../loads/loads.ts';
import type { Checked, Upload } from '../loads/uploads.ts';
import { definePage, type PageContext } from '../page.ts';
import { Button, Submit } from '../parts/inputs.tsx';
import { addressOf, Crumbs, Foreign, Items, Section, Title } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { Columns } from './load-columns.tsx';
import { OtherCorrections, otherCorrections } from './load-corrections.tsx';
import { FirstLines, FirstRows } from './load-lines.tsx';
import { Options, Reading } from './load-options.tsx';
import { FirstProblems } from './load-problems.tsx';

/** Columns with a button each, if one of them has to be chosen. */
const MOST_CHOICES = 8;

export const loadSheet = definePage({
  path: '/load/:upload',
  params: z.object({ upload: z.string() }),
  query: loadForm,
  async show(context, { params, query: form }) {
    requireOperator(context.person);
    const { loads } = context;
    const upload = await loads.uploads.read(params.upload);
    const page = { title: `Load ${upload.name}`, tab: 'load', command: commandOf(form, upload) } as const;
    const { checked } = upload;
    if (checked) return isPlain(checked) ? { path: `/runs/${checked.run}` } : { ...page, ...resultOf(upload, checked) };
    const state = loads.stateOf(upload, form);
    if (state?.status === 'checking')
      return { ...page, isBusy: true, body: <Checking upload={upload} state={state} form={form} /> };
    await loads.uploads.choose(upload.id, form);
    const preview = await previewOf(context, upload, form);
    const lines = 'code' in preview ? await linesOf(context, upload, form) : preview.firstLines;
    const failure = state?.failure ?? ('code' in preview ? preview : undefined);
    const others = await otherCorrections(context, upload);
    return {
      ...page,
      isStill: true,
      body: (
        <>
          <Heading upload={upload} preview={'code' in preview ? undefined : preview} />
          <OtherCorrections of={others} corrects={upload.corrects} />
          {failure && <Problem failure={failure} />}
          {failure?.readings && <Readings upload={upload} form={form} readings={failure.readings} />}
          {!failure?.readings && 'code' in preview && lines.length > 0 && (
            <p class="dim">
              Click the line that is the header, or choose below how the file is read, and read it again.
            </p>
          )}
          {'code' in preview ? (
            <Unread upload={upload} form={form} lines={lines} />
          ) : (
            <Sheet upload={upload} preview={preview} form={form} />
          )}
        </>
      ),
    };
  },
});

/** Why the file cannot be read is a part of the page, so that a person can read it in another way. */
async function previewOf({ loads, database }: PageContext, upload: Upload, form: LoadForm): Promise<Preview | Failure> {
  try {
    return await loads.preview(upload, form);
  } catch (error) {
    const failure = pageFailure(error, database);
    if (failure.httpStatus !== 409) throw error;
    return failure;
  }
}

/** None if the file cannot be read at all, such as a spreadsheet. */
async function linesOf({ loads }: PageContext, upload: Upload, form: LoadForm): Promise<readonly string[]> {
  try {
    return await loads.firstLines(upload, form);
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return [];
  }
}

/** A new load without warnings: its run says everything else. */
function isPlain({ status, warnings }: Checked): boolean {
  return status === 'new' && warnings.length === 0;
}

function resultOf({ name, account }: Upload, { run, status, rows, lines, warnings }: Checked) {
  const body = (
    <>
      <Title text={name} most={120} />
      {status === 'new' ? (
        <p>{checkedWords({ rows, lines })}.</p>
      ) : (
        <p class="notice warn">
          Run <a href={`/runs/${run}`}>{run}</a> has this file already: nothing is created twice, and no option of this
          load was applied. To apply other options to its orders,{' '}
          <a href={addressOf('/load', { account })}>load the file again</a> and choose “Check every row again”.
        </p>
      )}
      {warnings.length > 0 && (
        <Section title="Before you approve">
          <Items as="notes" of={warnings.map((text) => <Words text={text} most={600} />)} />
          <p class="dim">
            To read it in another way or load only some of its orders, decline the plan, and{' '}
            <a href={addressOf('/load', { account })}>load the file again</a>.
          </p>
        </Section>
      )}
      <p class="more">
        <Button to={`/runs/${run}`} label={status === 'new' ? 'See the plan' : 'See that run'} primary />
      </p>
    </>
  );
  return { isStill: true, body };
}

interface CheckingProps {
  readonly upload: Upload;
  readonly state: Extract<LoadState, { status: 'checking' }>;
  readonly form: LoadForm;
}

function Checking({ upload, state, form }: CheckingProps) {
  return (
    <>
      <Title text={upload.name} most={120} />
      <p role="status">Checking: {plural(state.rows, 'row')} so far. You can close this page.</p>
      <p class="more">
        <Button id="again" to={addressOf(`/load/${upload.id}`, form)} label="Look again" />
      </p>
    </>
  );
}

function Heading({ upload, preview }: { upload: Upload; preview: Preview | undefined }) {
  const size = preview && `${formatBytes(preview.file.sizeBytes)}${preview.file.isGzip ? ', gzip' : ''} · `;
  return (
    <>
      <Crumbs to={{ [addressOf('/load', { account: upload.account })]: 'Choose another file' }} />
      <Title text={upload.name} most={120} />
      <p class="dim">
        {size}account {upload.account} · nothing is sent yet · <a href={`/load/${upload.id}/file`}>download it</a> ·{' '}
        <a href={`/load/${upload.id}/remove`}>remove it</a>
      </p>
    </>
  );
}

function Problem({ failure: { code, message } }: { failure: Pick<Failure, 'code' | 'message'> }) {
  return (
    <p class="notice bad" role="alert">
      <code>{code}</code> <Words text={message} most={2_000} />
    </p>
  );
}

interface ReadingsProps {
  readonly upload: Upload;
  readonly form: LoadForm;
  readonly readings: readonly EncodedText[];
}

/** One click per encoding. */
function Readings({ upload, form, readings }: ReadingsProps) {
  return (
    <>
      <p>Which text is right? The file is then read in its encoding.</p>
      <p class="acts">
        {readings.map(({ text, encoding }) => (
          <a class="button" href={addressOf(`/load/${upload.id}`, { ...form, encoding })}>
            <Foreign text={text} most={40} /> <span class="dim">({encoding})</span>
          </a>
        ))}
      </p>
      <p class="dim">If none is right, export the file again as UTF-8.</p>
    </>
  );
}

interface ChoicesProps {
  readonly upload: Upload;
  readonly form: LoadForm;
  readonly preview: Preview;
  readonly choices: readonly ColumnChoice[];
}

/** One click per column that may be right. */
function Choices({ upload, form, preview: { table, firstRows }, choices }: ChoicesProps) {
  if (choices.length === 0) return null;
  return (
    <p class="acts">
      {choices.slice(0, MOST_CHOICES).map(({ field, column, combine = form.combine }) => {
        const index = table.columns.findIndex(
          (name, at) => column === name || column === referenceTo(at, table.columns),
        );
        const cell = firstRows[0]?.[index];
        const value = column === undefined ? NO_COLUMN : columnValue(index, table.columns);
        return (
          <a class="button" href={addressOf(`/load/${upload.id}`, { ...form, [`column-${field}`]: value, combine })}>
            {column === undefined ? 'No column' : <Foreign text={columnLabel(index, table.columns)} most={40} />} for{' '}
            {field}
            {cell && (
              <span class="dim">
                {' '}
                <Foreign text={cell} most={30} />
              </span>
            )}
          </a>
        );
      })}
    </p>
  );
}

/** The file is not a table as it is read now. */
function Unread({ upload, form, lines }: { upload: Upload; form: LoadForm; lines: readonly string[] }) {
  if (lines.length === 0)
    return (
      <p class="more">
        <Button to={addressOf('/load', { account: upload.account })} label="Choose another file" primary />
      </p>
    );
  return (
    <form class="load" method="get">
      <FirstLines upload={upload} form={form} lines={lines} />
      <Reading form={form} />
    </form>
  );
}

function Sheet({ upload, preview, form }: { upload: Upload; preview: Preview; form: LoadForm }) {
  const { sheet, problem, earlier, correction } = preview;
  const { readings, choices } = problem instanceof UnclearFile ? problem : { readings: [], choices: [] };
  return (
    <form class="load" method="get" action={`/load/${upload.id}`}>
      {problem && (
        <>
          <Problem failure={{ code: problem.code, message: statementOf(problem) }} />
          {readings.length > 0 ? (
            <Readings upload={upload} form={form} readings={readings} />
          ) : (
            <>
              <Choices upload={upload} form={form} preview={preview} choices={choices} />
              <p class="dim">
                {choices.length > 0 && 'Or '}
                <a href="#columns">{choices.length > 0 ? 'choose' : 'Choose'} the columns</a>, or “no column” for a
                field, and read the file again; or click the line that is the header.
              </p>
            </>
          )}
        </>
      )}
      {earlier && (
        <p class="notice warn">
          Run <a href={`/runs/${earlier.id}`}>{earlier.id}</a> has this file already: loading it again creates nothing
          twice. To apply other options to its orders, check every row again.
        </p>
      )}
      {correction !== undefined && (
        <p class="notice warn">
          Run <a href={`/runs/${correction}`}>{correction}</a> has the corrected lines of this file. The plan shows
          which of its orders exist already.
        </p>
      )}
      <Reading form={form} preview={preview} />
      <FirstLines upload={upload} form={form} lines={preview.firstLines} at={preview.table} />
      <FirstRows preview={preview} />
      {preview.checked && <FirstProblems preview={preview} checked={preview.checked} />}
      <Columns preview={preview} form={form} />
      <div class="acts">
        <button type="submit">Read it again</button>
      </div>
      <Options form={form} wasLoaded={earlier !== undefined} columns={preview.table.columns} />
      <div class="acts">
        <Submit label="Check and plan" primary formmethod="post" disabled={sheet === undefined} />
        <span class="dim">
          {sheet === undefined
            ? 'Not yet: solve the problem above, and read the file again.'
            : 'Reads the service and writes nothing: the load then waits until you approve it.'}
        </span>
      </div>
    </form>
  );
}
