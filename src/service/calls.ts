/**
 * One call of one operation: checked by the schemas of the operations table, handled for one tenant, and answered in
 * the dialect.
 */
import type pg from 'pg';
import { z } from 'zod';
import { perKey } from '../base/per-key.ts';
import type { Operation } from '../contract/operation.ts';
import { type OperationName, operations } from '../contract/operations.ts';
import { handlersFor } from './handlers.ts';
import { importSupport } from './import-body.ts';
import { pagingOf } from './paging.ts';
import { type Parsed, parse, parseObject } from './request.ts';
import type { Result } from './result.ts';
import { type Records, records } from './store/records.ts';
import type { Behaviour } from './testbed/behaviour.ts';
import type { Answer, Dialect } from './testbed/dialect.ts';

/** A request as it arrived, unchecked. */
export interface Arrived {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

export type ServeCall = (name: OperationName, tenantId: number, arrived: Arrived) => Promise<Answer>;

const common = z.object({ only_body: operations['contacts.getall'].query.shape.only_body });

export function callServer(pool: pg.Pool, behaviour: Behaviour, dialect: Dialect): ServeCall {
  const support = importSupport(behaviour.importBody);
  const importForm = support.status === 'form' ? support.form : undefined;
  const handlers = handlersFor({ paging: pagingOf(behaviour), importForm, importTwice: behaviour.importTwice });
  const view = { order: behaviour.order, lagMs: behaviour.readLagMs };
  const recordsOf = perKey((tenantId: number) => records(pool, tenantId, view)); // bounded: tenants with a valid key

  return async (name, tenantId, arrived) => {
    if (name === 'customers.import' && support.status === 'refused') return dialect.refusal(support);
    const operation: Operation = operations[name];
    const bodySchema = name === 'customers.import' ? importForm?.schema : operation.body;

    const checked = check(operation, bodySchema, arrived, dialect);
    if (checked.status === 'bad')
      return dialect.refusal({ status: 'refused', httpStatus: 400, message: checked.message });
    const { sent, onlyBody, ...values } = checked.value;

    // as: the values were just checked against the schemas of this very operation, which is what its handler takes.
    const handle = handlers[name] as (call: CheckedCall) => Promise<Result>;
    const result = await handle({ ...values, records: recordsOf(tenantId) });
    const ignored = Object.keys(sent).filter((member) => !Object.hasOwn(bodySchema?.shape ?? {}, member));
    return dialect.answer(result, { onlyBody, ignored });
  };
}

/** The values of a call, or what is wrong with the first of its parts. `sent`: all members of its body. */
function check(
  operation: Operation,
  bodySchema: z.ZodObject | undefined,
  arrived: Arrived,
  { readBody }: Dialect,
): Parsed<Omit<CheckedCall, 'records'> & { readonly sent: Checked; readonly onlyBody: boolean }> {
  const params = parse(operation.params, arrived.params);
  if (params.status === 'bad') return params;
  const query = parse(operation.query, arrived.query);
  if (query.status === 'bad') return query;
  const asked = parse(common, arrived.query);
  if (asked.status === 'bad') return asked;
  const sent = bodySchema === undefined ? NOTHING_SENT : parseObject(readBody(arrived.body));
  if (sent.status === 'bad') return sent;
  const body = bodySchema === undefined ? NOTHING_SENT : parse(bodySchema, sent.value);
  if (body.status === 'bad') return body;
  const onlyBody = asked.value.only_body ?? false;
  return {
    status: 'ok',
    value: { params: params.value, query: query.value, body: body.value, sent: sent.value, onlyBody },
  };
}

type Checked = Readonly<Record<string, unknown>>;

interface CheckedCall {
  readonly params: Checked;
  readonly query: Checked;
  readonly body: Checked;
  readonly records: Records;
}

const NOTHING_SENT = { status: 'ok', value: {} } as const;
