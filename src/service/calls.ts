/**
 * One call of one operation: checked by the schemas of the operations table, handled for one tenant, and answered in
 * the dialect.
 */

import type pg from 'pg';
import { z } from 'zod';
import type { Operation } from '../contract/operation.ts';
import { type OperationName, operations } from '../contract/operations.ts';
import { handlersFor } from './handlers/handlers.ts';
import { importSupport } from './import-body.ts';
import { pagingOf } from './paging.ts';
import { parse, parseObject } from './request.ts';
import type { Refused, Result } from './result.ts';
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
  const tenants = new Map<number, Records>(); // bounded: tenants with a valid key
  function recordsOf(tenantId: number): Records {
    const known = tenants.get(tenantId) ?? records(pool, tenantId, view);
    tenants.set(tenantId, known);
    return known;
  }

  return async (name, tenantId, arrived) => {
    if (name === 'customers.import' && support.status === 'refused') return dialect.refusal(support);
    const operation: Operation = operations[name];
    const bodySchema = name === 'customers.import' ? importForm?.schema : operation.body;

    const params = parse(operation.params, arrived.params);
    if (params.status === 'bad') return dialect.refusal(badRequest(params.message));
    const query = parse(operation.query, arrived.query);
    if (query.status === 'bad') return dialect.refusal(badRequest(query.message));
    const asked = parse(common, arrived.query);
    if (asked.status === 'bad') return dialect.refusal(badRequest(asked.message));
    const sent = bodySchema === undefined ? NOTHING_SENT : parseObject(dialect.readBody(arrived.body));
    if (sent.status === 'bad') return dialect.refusal(badRequest(sent.message));
    const body = bodySchema === undefined ? NOTHING_SENT : parse(bodySchema, sent.value);
    if (body.status === 'bad') return dialect.refusal(badRequest(body.message));

    // as: the values were just checked against the schemas of this very operation, which is what its handler takes.
    const handle = handlers[name] as (call: CheckedCall) => Promise<Result>;
    const call = { params: params.value, query: query.value, body: body.value, records: recordsOf(tenantId) };
    const result = await handle(call);
    const ignored = Object.keys(sent.value).filter((member) => !Object.hasOwn(bodySchema?.shape ?? {}, member));
    return dialect.answer(result, { onlyBody: asked.value.only_body ?? false, ignored });
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

function badRequest(message: string): Refused {
  return { status: 'refused', httpStatus: 400, message };
}
