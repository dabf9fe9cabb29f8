/** The kinds of records of the contract. */
import type { OperationName } from './operations.ts';

export const KINDS = ['contacts', 'customers', 'orders', 'tasks', 'subtasks', 'pipelines'] as const;

export type Kind = (typeof KINDS)[number];

/** Their lists are described as whole, and a service may cut them off or page them anyway. */
export type WholeKind = 'customers' | 'orders';

/** The operation that lists the records of a kind. */
export function listOf(kind: Kind): OperationName {
  return `${kind}.getall`;
}

/** By kind: the parameter of its `get` that takes the id. Subtasks have no such operation. */
export const ID_PARAM = {
  contacts: 'contact_id',
  customers: 'id',
  orders: 'id',
  tasks: 'id',
  pipelines: 'pipeline_id',
} as const satisfies Partial<Record<Kind, string>>;
export type GettableKind = keyof typeof ID_PARAM;

/** `customer` for `customers`. */
export function singular<One extends string>(kind: `${One}s`): One {
  return kind.slice(0, -1) as One; // safe: by the type of `kind`
}

/** The kind of records of an operation: the first half of its name. */
export function kindOf(operation: OperationName): Kind {
  const room = operation.slice(0, operation.indexOf('.'));
  const kind = KINDS.find((name) => name === room);
  if (kind === undefined) throw new TypeError(`operation ${operation} names no kind of records`);
  return kind;
}
