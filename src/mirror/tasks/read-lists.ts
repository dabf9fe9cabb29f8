/**
 * Reads lists of tasks, subtasks and pipelines: returns every record in a known shape, or an error that names the
 * setting to change.
 */
import { shortJson } from '../../base/texts.ts';
import type { CallOptions } from '../../client/call/client.ts';
import type { Json } from '../../client/call/json.ts';
import { shapeOf } from '../../client/call/shape.ts';
import { isPart, type Page } from '../../client/lists/scan-pages.ts';
import type { Kind } from '../../contract/kinds.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { TaskState } from '../../contract/target.ts';
import type { Account } from '../../engine/account/account.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import { listInAnswer, withoutId } from '../../engine/account/list-in-answer.ts';
import { checkShape } from '../../engine/account/list-shapes.ts';
import { readCall, readsOf } from '../../engine/account/reads.ts';
import { addNote, recordProgress } from '../../engine/ledger/runs.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import type { TaskRead } from '../targets/service/service.ts';

export type ListReader = (asked: Pick<CallOptions, 'path' | 'query'>) => Promise<Page<Json>>;

/** Reads lists of one operation; the first list that is not empty is compared with the shape seen before. */
export function taskListReader(context: JobContext<unknown>, operation: OperationName, kind: Kind): ListReader {
  const { pool, run, account } = context;
  let isShapeKnown = false;
  return async (asked) => {
    const { content, beside } = await readCall(account, operation, { ...asked, ...readsOf(context) });
    const isPage = asked.query !== undefined;
    const { path, list } = listInAnswer(account, { operation, kind, content, isPage });
    if (!isShapeKnown && list.length > 0) {
      isShapeKnown = true;
      await checkShape(context, kind, shapeOf(path, list[0], kind, account.dialect));
    }
    if (kind !== 'tasks' && isPart(list.length, beside)) {
      await recordProgress(pool, run.id, { scan: 'unproven' });
      await addNote(pool, run.id, `a list of ${kind} is only a part, as its answer says: some ${kind} were not read`);
    }
    return { records: list, beside };
  };
}

/** The state of a task or a subtask that was read. @throws RunFailed RECORD_WITHOUT_ID, SERVICE_UNREADABLE */
export function stateOf(
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
          `expected true or false, 1 or 0, or a word such as done or open. If another member holds it, or a member within, set ${setting} ` +
          'to its name or path. Nothing was delivered.',
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
