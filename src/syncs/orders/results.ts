/** Writes a load's lines to CSVs, all of them and one file per verdict, in the format of the loaded file. */
import path from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import type { Folder } from '../../base/open-folder.ts';
import { PLAIN_HINTS, sentenceFor } from '../../base/reasons/reasons.ts';
import { ENCODINGS } from '../../csv/encoding.ts';
import { resultsBase } from '../../csv/file-names.ts';
import { ResultFiles, type ResultKind } from '../../csv/result-files.ts';
import { type LoadedRow, loadedRows } from '../../engine/ledger/matching/staged-orders.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { loadOf } from './begin-load.ts';

/** What is needed to write a load's results, kept with the load; earlier versions kept less and wrote UTF-8. */
const resultFormat = z.object({
  delimiter: z.string(),
  quote: z.string().default('"'),
  lineEnd: z.enum(['LF', 'CRLF', 'CR']),
  encoding: z.enum(ENCODINGS).default('utf-8'),
  withBom: z.boolean(),
  title: z.array(z.array(z.string()).readonly()).readonly().default([]),
});

export type ResultFormat = z.input<typeof resultFormat>;

export interface ResultFile {
  readonly kind: ResultKind;
  readonly path: string;
  readonly rows: number;
}

/** `base`: the prefix of the file names; default: the loaded file. @throws LockstepError DISK_FULL, RESULTS_NOT_WRITTEN */
export async function writeResults(
  pool: pg.Pool,
  runId: string,
  destination: { readonly dir: string; readonly folder?: Folder; readonly base?: string },
): Promise<readonly ResultFile[]> {
  const load = await loadOf(pool, runId);
  const { account } = await readRun(pool, runId);
  const hints = { ...PLAIN_HINTS, about: { run: runId, account } };
  const base = resultsBase(path.basename(load.fileName));
  const files = new ResultFiles({ base, ...destination, columns: load.header, ...resultFormat.parse(load.form) });
  try {
    for await (const row of loadedRows(pool, runId)) {
      const decided = {
        verdict: row.verdict ?? kindOf(row),
        reason: row.reason ?? '',
        detail: sentenceFor(row.reason ?? null, row.facts ?? null, hints),
        id: row.recordId,
        orderId: row.label,
      };
      for (const line of row.lines) await files.write(kindOf(row), { ...decided, ...line });
    }
    const written = await files.close();
    return [...written].map(([kind, file]) => ({ kind, ...file }));
  } catch (error) {
    await files.abort();
    throw error;
  }
}

/** `unknown`: sent, and not confirmed. `unprocessed`: not sent. */
function kindOf({ verdict, state }: LoadedRow): Exclude<ResultKind, 'results'> {
  switch (verdict) {
    case undefined:
      return ['acked', 'unknown', 'intent'].includes(state) ? 'unknown' : 'unprocessed';
    case 'unchanged':
      return 'existing';
    default:
      return verdict;
  }
}
