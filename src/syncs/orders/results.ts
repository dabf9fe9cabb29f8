/** Writes a load's rows to CSVs, one per verdict, in the format of the loaded file. */
import path from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import { LockstepError } from '../../base/errors.ts';
import type { Folder } from '../../base/open-folder.ts';
import { PLAIN_HINTS, sentenceFor } from '../../base/reasons/reasons.ts';
import { resultsBase } from '../../csv/file-names.ts';
import { ResultFiles, type ResultKind } from '../../csv/results.ts';
import { type LoadedRow, loadedRows } from '../../engine/ledger/matching/staged-orders.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { readLoad } from './begin.ts';

const formSchema = z.object({ delimiter: z.string(), lineEnd: z.enum(['LF', 'CRLF', 'CR']), withBom: z.boolean() });

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
  const load = await readLoad(pool, runId);
  if (!load) throw new LockstepError('RUN_IS_NO_LOAD', `Run ${runId} has loaded no file.`, { exitCode: 2 });
  const { account } = await readRun(pool, runId);
  const hints = { ...PLAIN_HINTS, about: { run: runId, account, file: load.fileName } };
  const base = resultsBase(path.basename(load.fileName));
  const files = new ResultFiles({ base, ...destination, columns: load.header, ...formSchema.parse(load.form) });
  try {
    for await (const row of loadedRows(pool, runId)) {
      await files.write(kindOf(row), {
        line: row.line,
        verdict: row.verdict ?? 'unprocessed',
        code: row.reason ?? '',
        reason: sentenceFor(row.reason ?? null, row.facts ?? null, hints),
        ...(row.recordId !== undefined && { id: row.recordId }),
        cells: row.cells,
      });
    }
    const written = await files.close();
    return [...written].map(([kind, file]) => ({ kind, ...file }));
  } catch (error) {
    await files.abort();
    throw error;
  }
}

/** An updated order existed before. A row that could not be settled needs a person. */
function kindOf({ verdict, state }: LoadedRow): ResultKind {
  switch (verdict) {
    case undefined:
      return state === 'acked' || state === 'unknown' || state === 'intent' ? 'review' : 'unprocessed';
    case 'updated':
    case 'unchanged':
      return 'existing';
    case 'unknown':
      return 'review';
    default:
      return verdict;
  }
}
