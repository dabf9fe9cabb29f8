/** The forms of the pages of records. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { isOperationName, type OperationName } from '../../contract/operations.ts';
import type { HandCall } from '../../engine/ledger/console/hand-calls.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { readGiven } from '../read-given.ts';
import { bodyFrom } from '../records/fields.ts';
import { isApplied } from '../records/state.ts';
import { settleByHand, writeAgain, writeByHand } from '../records/write.ts';
import { say } from './flash-message.ts';
import { onForm, submittedForm } from './forms.ts';

const target = z.object({
  account: z.string(),
  operation: z.custom<OperationName>((name) => isOperationName(String(name))),
});
const sent = z.looseObject({
  once: z.uuid(),
  page: z.string().regex(/^\/records\/[^\\]*$/),
  filled: z.string().optional(),
  shown: z.string().optional(),
  pipeline: z.string().optional(),
});
const ofCall = z.object({ call: z.uuid() });
const ofOnce = z.object({ once: z.uuid() });

export function addRecordForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  onForm(app, '/records/:account/call/:operation', async ({ taking, params, request, reply }) => {
    const { account, operation } = readGiven(target, params);
    const given = withMove(Object.fromEntries(submittedForm(request)));
    const { once, page, shown, pipeline, filled = '' } = readGiven(sent, given);
    const path = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (name.startsWith('path.') ? [[name.slice(5), value]] : [])),
    );
    const body = bodyFrom(operation, given, filled.split(','));
    const writing = {
      id: once,
      account,
      operation,
      path,
      body,
      page,
      shown,
      pipeline,
      ...(!ASKED.test(operation) && { besides: 'any' }),
    };
    return after(reply, await writeByHand(needs, taking, writing), once);
  });
  onForm(app, '/calls/:call/again', async ({ taking, params, given, reply }) => {
    const { call } = readGiven(ofCall, params);
    const { once } = readGiven(ofOnce, given);
    return after(reply, await writeAgain(needs, taking, call, once), once);
  });
  onForm(app, '/calls/:call/applied', async ({ taking, params, reply }) => {
    const { call } = readGiven(ofCall, params);
    return after(reply, await settleByHand(needs, taking, call, 'applied'), call);
  });
}

/** A button of a card names the column and the position to move to. */
function withMove(given: Record<string, string>): Record<string, string> {
  const { to, ...rest } = given;
  const at = to?.lastIndexOf(':') ?? -1;
  return to === undefined || at < 0 ? rest : { ...rest, column_id: to.slice(0, at), position: to.slice(at + 1) };
}

/** What would be made a second time. A card may move to the same place again, and an import looks for the customer itself. */
const ASKED = /\.(create|comment)$/;

/** What makes a record. Many services do not answer its id, so the page of the call finds it by its content. */
const MAKES = /\.(create|import)$/;

/** By the operation's name without the kind of record. */
const SAID: Readonly<Record<string, string>> = {
  create: 'It was created.',
  update: 'It was saved.',
  complete: 'It was saved.',
  import: 'The contact was imported as a customer.',
  comment: 'The comment was added.',
  moveCard: 'The card was moved.',
};

/** Back to the page, or to the page of the call if there is more to say. `asked`: the call that the form is about. */
function after(reply: FastifyReply, call: HandCall, asked: string): string {
  const { id, operation, page } = call;
  if (!isApplied(call)) return `/calls/${id}`;
  if (id !== asked) return `/calls/${id}?look=1&again=1`;
  const text = SAID[operation.slice(operation.indexOf('.') + 1)] ?? 'The service applied it.';
  const link = MAKES.test(operation) ? { path: `/calls/${id}?look=1`, words: 'Find it' } : undefined;
  say(reply, { tone: 'good', text, link });
  return page;
}
