/**
 * A plan file: what a dry run would write, for people to read and for `lockstep apply`. Lines of JSON: a header, one line for
 * each write, and an end. The ledger stores the hash of the file, so that a file which was changed is not applied.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { formatCount, plural } from '../base/counts.ts';
import { codeOf, messageOf, wrongUse } from '../base/errors.ts';
import { keepPlanFile } from '../engine/ledger/approval.ts';
import { changesIn, type ShownWrite, shownWrites } from '../engine/ledger/matching/shown-writes.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { Queryable } from '../storage/queryable.ts';
import { exportLines, fileToWrite, type Replacing, TO_STDOUT } from './export-file.ts';
import type { Session } from './session.ts';
import { thisPerson } from './this-person.ts';
import type { Workspace } from './workspace/open-workspace.ts';

const VERSION = 1;

const headSchema = z.object({ lockstepPlan: z.number(), id: z.string() });
const endSchema = z.object({ end: z.string(), writes: z.number() });

/** The path for the plan file of `--plan`, before the plan is made; undefined without that option. @throws LockstepError FILE_EXISTS, or USAGE if it cannot be a file there */
export async function planPath(
  cwd: string,
  { plan: given, detach, force }: Replacing & { readonly plan?: string; readonly detach?: boolean },
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  if (detach === true)
    throw wrongUse('--plan and --detach exclude each other: the plan is saved when the dry run is done');
  const file = await fileToWrite(cwd, given, { force });
  const above = await stat(path.dirname(file)).catch(() => undefined);
  if (given === TO_STDOUT || above?.isDirectory() !== true)
    throw wrongUse(`--plan ${given}: name a file in a directory that exists, such as --plan plan.ndjson`);
  return file;
}

/** Saves the plan of a dry run once it is done, and prints how to apply it; returns its path, for the result of the run. */
export async function savedPlan(
  session: Session,
  { database: { pool: db } }: Workspace,
  run: Run,
  file: string,
): Promise<Readonly<Record<string, string>>> {
  if (run.status !== 'done') return {};
  const { out, hint } = session;
  const hash = createHash('sha256');
  const savedBy = thisPerson();
  const counts = { create: 0, update: 0 };
  const lines = async function* () {
    for await (const line of planLines(db, run, savedBy, counts)) {
      const text = `${JSON.stringify(line)}\n`;
      hash.update(text);
      yield text;
    }
  };
  await exportLines(session, file, lines(), { force: true }); // `planPath` has looked
  await keepPlanFile(db, run.id, { sha256: hash.digest('hex'), savedBy });
  const { create, update } = counts;
  const shown = path.relative(session.cwd, file);
  const planned = `${plural(create, 'record')} to create, ${formatCount(update)} to update. Nothing is written yet.`;
  const apply = `Apply it with: ${hint(`apply ${shown}`)}`;
  const said = create + update === 0 ? ['there is nothing to write.'] : [planned, apply];
  out.say('', `Saved the plan in ${shown}: ${said.join('\n')}`);
  return { plan: file };
}

async function* planLines(
  db: Queryable,
  { id, sync, title, type, account, createdAt }: Run,
  savedBy: string,
  counts: { create: number; update: number },
): AsyncGenerator<object> {
  const whose = type === 'orders' ? { load: title } : { sync };
  yield { lockstepPlan: VERSION, id, ...whose, account, madeAt: createdAt, savedBy };
  for await (const write of shownWrites(db, id)) {
    counts[write.action === 'update' ? 'update' : 'create'] += 1;
    yield lineOf(type, write);
  }
  yield { end: id, writes: counts.create + counts.update };
}

/** `{"contact":"7","name":"Ann","action":"update","customer":"15","fields":{"phone_number":{"from":"1","to":"2"}}}` */
function lineOf(type: string, write: ShownWrite): object {
  const { source, label, action, record, customer } = write;
  const fields = changesIn(write).map(({ field, ...values }) => [field, values]);
  const records =
    type === 'orders'
      ? { order: record ?? undefined, customer: typeof customer === 'string' ? customer : { create: customer } }
      : { customer: record ?? undefined };
  return {
    [type === 'orders' ? 'line' : 'contact']: source,
    name: label ?? undefined,
    action,
    ...records,
    fields: Object.fromEntries(fields),
  };
}

export interface GivenPlan {
  /** The dry run that saved it. */
  readonly id: string;
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string;
}

/** The header of the longest plan file is shorter. */
const MOST_BYTES = 16 * 1024;

/** Reads a plan file in constant memory. @throws LockstepError PLAN_UNREADABLE, PLAN_INVALID, PLAN_INCOMPLETE */
export async function readPlan(file: string): Promise<GivenPlan> {
  const hash = createHash('sha256');
  let [head, tail] = [Buffer.alloc(0), Buffer.alloc(0)];
  try {
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk);
      if (head.length < MOST_BYTES) head = Buffer.concat([head, chunk]).subarray(0, MOST_BYTES);
      tail = Buffer.concat([tail, chunk]).subarray(-MOST_BYTES);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    const why = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    const message = `The plan ${file} cannot be read: ${why}. Check its name and its permissions`;
    throw wrongUse(message, 'PLAN_UNREADABLE', error);
  }
  const { lockstepPlan, id } = parsed(headSchema, head.toString('utf8').split('\n')[0]) ?? {};
  if (id === undefined) throw wrongUse(`${file} is not a plan of Lockstep. Save one with --plan FILE`, 'PLAN_INVALID');
  if (lockstepPlan !== VERSION) {
    const message = `${file} is a plan in format ${lockstepPlan}, and this version of Lockstep reads format ${VERSION}. Save a new plan`;
    throw wrongUse(message, 'PLAN_INVALID');
  }
  const end = parsed(endSchema, tail.toString('utf8').trimEnd().split('\n').at(-1));
  if (end?.end !== id) throw wrongUse(`The end of the plan ${file} is missing. Save a new plan`, 'PLAN_INCOMPLETE');
  return { id, sha256: hash.digest('hex') };
}

function parsed<T>(schema: z.ZodType<T>, line = ''): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
