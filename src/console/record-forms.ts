/** The forms of the pages of records. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { isOperationName, type OperationName } from '../contract/operations.ts';
import type { HandCall } from '../engine/ledger/hand-calls.ts';
import { formOf } from './forms.ts';
import { requirePerson } from './guard.ts';
import type { ConsoleNeeds } from './needs.ts';
import { bodyFrom } from './records/fields.ts';
import { settleByHand, writeAgain, writeByHand } from './records/write.ts';
import { say } from './said.ts';

const target = z.object({
  account: z.string(),
  operation: z.custom<OperationName>((name) => isOperationName(String(name))),
});
const sent = z.looseObject({
  once: z.uuid(),
  page: z.string().regex(/^\/records\/[^\\]*$/),
  filled: z.string().optional(),
});
const ofCall = z.object({ call: z.uuid() });

export function addRecordForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  app.post('/records/:account/call/:operation', async (request, reply) => {
    const taking = { person: requirePerson(request), via: 'page' } as const;
    const { account, operation } = target.parse(request.params);
    const given = withMove(Object.fromEntries(formOf(request)));
    const { once, page, filled = '' } = sent.parse(given);
    const path = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (name.startsWith('path.') ? [[name.slice(5), value]] : [])),
    );
    const body = bodyFrom(operation, given, filled.split(','));
    return lead(reply, await writeByHand(needs, taking, { id: once, account, operation, path, body, page }));
  });
  app.post('/calls/:call/again', async (request, reply) => {
    const taking = { person: requirePerson(request), via: 'page' } as const;
    const { call } = ofCall.parse(request.params);
    const { once } = z.object({ once: z.uuid() }).parse(Object.fromEntries(formOf(request)));
    return lead(reply, await writeAgain(needs, taking, call, once));
  });
  app.post('/calls/:call/applied', async (request, reply) => {
    const taking = { person: requirePerson(request), via: 'page' } as const;
    const { call } = ofCall.parse(request.params);
    return lead(reply, await settleByHand(needs, taking, call, 'applied'));
  });
}

/** A button of a card names the column and the position to move to. */
function withMove(given: Record<string, string>): Record<string, string> {
  const { to, ...rest } = given;
  const at = to?.lastIndexOf(':') ?? -1;
  return to === undefined || at < 0 ? rest : { ...rest, column_id: to.slice(0, at), position: to.slice(at + 1) };
}

/** Back to the page, or to the page of the call if there is more to say. */
function lead(reply: FastifyReply, { id, operation, status, found, page }: HandCall): FastifyReply {
  const isDone = status === 'applied' || found === 'applied';
  if (!isDone) return reply.redirect(`/calls/${id}`, 303);
  say(reply, { tone: 'good', text: `${operation}: the service applied it.` });
  return reply.redirect(page, 303);
}
