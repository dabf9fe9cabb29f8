/** Files that people load here: how they would be read, and their rows while they are checked and stored. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { LockstepError } from '../../base/errors.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import type { OpenedFile } from '../../csv/receive.ts';
import type { ResultKind } from '../../csv/result-files.ts';
import { CANCELLED } from '../../engine/ledger/run-status.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { asSentence } from '../../operator/format.ts';
import { checkedWords } from '../../operator/sheet-words.ts';
import { firstLinesOf, type Preview, previewLoad } from '../../syncs/orders/preview-load.ts';
import { receiveLoad } from '../../syncs/orders/receive-load.ts';
import { writeResults } from '../../syncs/orders/results.ts';
import { type Done, keeping, type Taking } from '../actions/actions.ts';
import { type Failure, pageFailure } from '../failures.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { choicesOf, type LoadForm } from './load-form.ts';
import { type Checked, createUploads, type Upload, type Uploads } from './uploads.ts';

export interface Loads {
  readonly uploads: Uploads;
  /** The most bytes that a file may have. */
  readonly maxBytes: number;
  /** @throws LockstepError UPLOAD_UNKNOWN, and like reading a file as a table */
  preview(upload: Upload, form: LoadForm): Promise<Preview>;
  /** The first lines, of a file that cannot be read as a table. @throws LockstepError like `preview` */
  firstLines(upload: Upload, form: LoadForm): Promise<readonly string[]>;
  /**
   * Checks and stores all rows as a run that asks for approval. Resolves after 2 s at the latest, which is enough for a small
   * file; the rest continues. @throws LockstepError LOAD_BEGUN: it was begun with other choices
   */
  begin(upload: Upload, form: LoadForm, taking: Taking): Promise<void>;
  /** Deletes a file that is not loaded. @throws LockstepError LOAD_BEGUN: its rows are being checked, or are stored */
  remove(upload: Upload, taking: Taking): Promise<Done>;
  /** What this process does with a file, or why it could not load it with this form. Undefined: nothing. */
  stateOf(upload: Upload, form: LoadForm): LoadState | undefined;
  /** The file with the lines of a kind. @throws LockstepError RESULTS_EMPTY, and like writing results */
  resultOf(run: string, kind: ResultKind): Promise<OpenedFile>;
  /** Stops what is under way: nothing is left of a load that was not received whole. */
  close(): Promise<void>;
}

export type LoadState =
  | { readonly status: 'checking'; readonly form: string; readonly rows: number }
  | { readonly status: 'failed'; readonly form: string; readonly failure: Failure };

type LoadsNeeds = Pick<
  ConsoleNeeds,
  'pool' | 'settings' | 'openAccount' | 'dataDir' | 'database' | 'log' | 'maxUploadBytes'
>;

const MAX_BYTES = 200 * 1024 * 1024;
/** A small file is checked within this time, so its form leads to the plan at once. */
const WAIT_MS = 2_000;

export function createLoads(needs: LoadsNeeds): Loads {
  const { pool, settings, openAccount, dataDir, database, log, maxUploadBytes = MAX_BYTES } = needs;
  const uploads = createUploads(path.join(dataDir, 'uploads'));
  const states = new Map<string, LoadState>();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  const common = { spoolDir: path.join(dataDir, 'received'), signal: closing.signal };

  async function receive(upload: Upload, form: LoadForm): Promise<Checked> {
    const { begun, rows, lines, warnings, notes } = await receiveLoad(pool, {
      ...common,
      account: await openAccount(upload.account),
      source: () => uploads.open(upload),
      choices: choicesOf(form),
      presetsDir: settings().presets,
      options: { existing: form.existing, createCustomers: form.customers === 'yes', confirm: true },
      dryRun: false,
      salt: form.again && upload.id,
      corrects: upload.corrects,
      onProgress: (rows) => states.set(upload.id, { status: 'checking', form: JSON.stringify(form), rows }),
    });
    const said = warnings.map(({ code, facts }) => sentenceFor(code, facts));
    return {
      run: begun.run.id,
      status: begun.status,
      form: JSON.stringify(form),
      rows,
      lines,
      warnings: [...said, ...notes.map(asSentence)],
    };
  }

  async function load(upload: Upload, form: LoadForm, taking: Taking): Promise<void> {
    try {
      await uploads.choose(upload.id, form);
      await keeping(needs, taking, 'begin-load', `${upload.name} for ${upload.account}`, async () => {
        const checked = await receive(upload, form);
        await uploads.finish(upload, checked);
        return doneWith(checked, await readRun(pool, checked.run));
      });
      states.delete(upload.id);
    } catch (error) {
      const failure = pageFailure(error, database);
      if (failure.httpStatus >= 500) log?.error({ err: error }, 'a file could not be loaded');
      states.set(upload.id, { status: 'failed', form: JSON.stringify(form), failure });
    }
  }

  return {
    uploads,
    maxBytes: maxUploadBytes,
    async preview(upload, form) {
      const account = await openAccount(upload.account);
      const given = { ...common, account, choices: choicesOf(form), presetsDir: settings().presets };
      return previewLoad(pool, () => uploads.open(upload), given);
    },
    async firstLines(upload, form) {
      return firstLinesOf(() => uploads.open(upload), { ...common, choices: choicesOf(form) });
    },
    async begin(upload, form, taking) {
      const state = states.get(upload.id);
      const earlier = upload.checked ?? (state?.status === 'checking' ? state : undefined);
      const sent = JSON.stringify(form);
      if (earlier && (earlier.form ?? sent) !== sent) throw begunOtherwise(upload.name);
      if (earlier) return;
      states.set(upload.id, { status: 'checking', form: sent, rows: 0 });
      const loading = load(upload, form, taking).finally(() => underWay.delete(loading));
      underWay.add(loading);
      await atMost(WAIT_MS, loading);
    },
    remove(upload, taking) {
      const { id, name, account, checked } = upload;
      return keeping(needs, taking, 'remove-file', `${name} for ${account}`, async () => {
        if (checked || states.get(id)?.status === 'checking') throw beingLoaded(name);
        await uploads.remove(id);
        states.delete(id);
        return { said: `${name} was removed. Nothing of it was loaded.` };
      });
    },
    stateOf({ id }, form) {
      const state = states.get(id);
      return state?.status === 'failed' && state.form !== JSON.stringify(form) ? undefined : state;
    },
    resultOf: (run, kind) => resultIn(path.join(uploads.dir, `results-${randomUUID()}`), pool, run, kind),
    async close() {
      closing.abort();
      await Promise.all(underWay);
    },
  };
}

function doneWith(checked: Checked, { id, status }: Run): Done {
  const isCancelled = checked.status === 'new' && status === 'cancelled'; // while its file was read
  return { said: `${checkedWords(checked)}.`, about: id, ...(isCancelled && { refused: CANCELLED }) };
}

/** `dir` is gone afterwards: the open file is still read to its end. */
async function resultIn(dir: string, pool: LoadsNeeds['pool'], run: string, kind: ResultKind): Promise<OpenedFile> {
  try {
    const written = (await writeResults(pool, run, { dir })).find((file) => file.kind === kind);
    if (written) return { name: path.basename(written.path), handle: await fs.open(written.path, 'r') };
    throw new LockstepError('RESULTS_EMPTY', `Run ${run} has no line that is ${kind} now.`);
  } finally {
    await fs.rm(dir, { recursive: true, force: true });
  }
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, waited]).finally(() => clearTimeout(timer));
}

function beingLoaded(name: string): LockstepError {
  return new LockstepError(
    'LOAD_BEGUN',
    `${name} is already loaded, or its rows are being checked. Cancel its run instead.`,
  );
}

function begunOtherwise(name: string): LockstepError {
  const message = `${name} was already sent with other columns or options, in another tab or by another person. Yours were not used: check the plan before you approve it.`;
  return new LockstepError('LOAD_BEGUN', message);
}
