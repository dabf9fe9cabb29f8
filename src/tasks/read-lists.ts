/** Lists of tasks, subtasks and pipelines as they are read: every record in a shape that is known, or an error that says what to set. */
import { listIn, whyNoRecords } from '../client/decode.ts';
import type { Json, Kind } from '../client/dialect.ts';
import { pathTo, shapeOf } from '../client/shape.ts';
import type { OperationName } from '../contract/operations.ts';
import { recordProgress } from '../engine/ledger/runs.ts';
import type { TaskState } from '../targets/target.ts';
import type { Account } from '../worker/accounts.ts';
import type { JobContext } from '../worker/job.ts';
import { readCall } from '../worker/reads.ts';
import { checkShape } from '../worker/shapes.ts';
import { RunFailed } from '../worker/trouble.ts';
import { withoutId } from '../worker/without-id.ts';
import type { ReadState } from './task-state.ts';

export interface Asked {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number>>;
}

export type ListReader = (asked: Asked) => Promise<readonly Json[]>;

/** Reads lists of one operation; the first one that holds anything is compared with the shape they had before. */
export function listReader(context: JobContext<unknown>, operation: OperationName, kind: Kind): ListReader {
  const { pool, run, account, signal } = context;
  let isShapeKnown = false;
  return async (asked) => {
    const onCalls = (made: { calls: number; limited: number }) => recordProgress(pool, run.id, made);
    const { content } = await readCall(account, operation, { ...asked, lane: run.lane, signal, onCalls });
    const list = listIn(content, account.dialect, kind, 'content');
    if (!list) throw noList(account, operation, kind, content);
    if (!isShapeKnown && list.length > 0) {
      isShapeKnown = true;
      await checkShape(context, kind, shapeOf(pathTo(list, content) ?? [], list[0], kind, account.dialect));
    }
    return list;
  };
}

/** The state of a task or a subtask that was read. @throws RunFailed RECORD_WITHOUT_ID, SERVICE_UNREADABLE */
export function stateOf(
  read: ReadState,
  kind: 'task' | 'subtask',
  record: Json,
  account: Account,
): { readonly task: TaskState; readonly saysCompletion: boolean } {
  switch (read.status) {
    case 'read':
      return read;
    case 'no-id':
      throw withoutId(kind, record, account);
    case 'unreadable': {
      const value = JSON.stringify(read.value).slice(0, 60);
      throw new RunFailed(
        'SERVICE_UNREADABLE',
        `A ${kind} of the service of account "${account.name}" says ${read.member}: ${value}, and nobody can tell whether that is completed: ` +
          'expected true or false, 1 or 0, or a word such as done or open. Nothing was delivered on the strength of it.',
      );
    }
    default:
      return read satisfies never;
  }
}

function noList({ name, dialect }: Account, operation: OperationName, kind: Kind, content: unknown): RunFailed {
  const why = whyNoRecords(content, dialect, kind);
  const idField = `Name the member that holds the id under accounts.${name}.dialect.idField.${kind}, or, `;
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service's answer to ${operation} holds no list of ${kind} that Lockstep recognises${why ? `; ${why}` : ''}. ` +
      `${why ? `${idField}if these are not the ${kind}, where` : 'Name where'} the list stands under accounts.${name}.dialect.listPath.${kind}.`,
  );
}
