/** What the routes of forms share: what the form holds, and the message on the next page. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LockstepError } from '../base/errors.ts';
import type { Done } from './actions.ts';
import { failureOf } from './failures.ts';
import type { ConsoleNeeds } from './needs.ts';
import { say } from './said.ts';

/** Says what was done, or why it was not. Undefined if it was not. */
export async function tell(
  reply: FastifyReply,
  needs: Pick<ConsoleNeeds, 'database'>,
  work: () => Promise<Done>,
): Promise<Done | undefined> {
  try {
    const done = await work();
    say(reply, { tone: done.refused === undefined ? 'good' : 'bad', text: done.said });
    return done;
  } catch (error) {
    if (!(error instanceof LockstepError) || failureOf(error, needs.database).httpStatus < 409) throw error;
    say(reply, { tone: 'bad', text: error.message });
    return undefined;
  }
}

export function formOf({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}
