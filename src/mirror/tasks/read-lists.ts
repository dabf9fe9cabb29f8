/** What lists of tasks, subtasks and pipelines show, or an error that names the setting to change. */
import { shortJson } from '../../base/texts.ts';
import type { Json } from '../../client/call/json.ts';
import { isPart } from '../../client/lists/scan-pages.ts';
import type { TaskState } from '../../contract/target.ts';
import type { Account } from '../../engine/account/account.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import { type ListReader, withoutId } from '../../engine/account/list-reader.ts';
import { addNote, recordProgress } from '../../engine/ledger/runs.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import type { TaskRead } from '../targets/service/service.ts';

/** Reads a list that is described as whole. If its answer says that it is only a part, the run notes it. */
export async function readWhole(
  { pool, run }: JobContext<unknown>,
  kind: 'subtasks' | 'pipelines',
  readList: ListReader,
  asked: Parameters<ListReader>[0] = {},
): Promise<{ readonly records: readonly Json[]; readonly isWhole: boolean }> {
  const { records, beside } = await readList(asked);
  const isWhole = !isPart(records.length, beside);
  if (!isWhole) {
    await recordProgress(pool, run.id, { scan: 'unproven' });
    await addNote(pool, run.id, `the service says that a list of ${kind} is incomplete: some ${kind} were not read`);
  }
  return { records, isWhole };
}

/** The state of a task or a subtask that was read. @throws RunFailed RECORD_WITHOUT_ID, SERVICE_UNREADABLE */
export function taskStateOf(
  read: TaskRead,
  kind: 'task' | 'subtask',
  record: Json,
  account: Account,
): { readonly task: TaskState; readonly saysCompletion: boolean } {
  switch (read.status) {
    case 'read':
      return read;
    case 'no-id':
      throw withoutId(`${kind}s`, record, account);
    case 'unreadable': {
      const setting = `accounts.${account.name}.dialect.members.${kind}s.isCompleted`;
      throw new RunFailed(
        'SERVICE_UNREADABLE',
        `A ${kind} of the service of account "${account.name}" has the completion ${shortJson(read.value)}, which Lockstep cannot read as completed or open: ` +
          `expected true or false, 1 or 0, or a word such as done or open. If another member holds it, set ${setting} to its name or path. ` +
          'Nothing was delivered.',
      );
    }
    default:
      return read satisfies never;
  }
}

/** What `read` gives, or why the service refuses it. */
export async function orRefused<T>(
  read: () => Promise<T>,
): Promise<T | { readonly status: 'refused'; readonly why: RunFailed }> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RunFailed && error.code === 'SERVICE_REFUSED') return { status: 'refused', why: error };
    throw error;
  }
}
