/** What the routes of forms share: who sends what, where it leads, and the message on the next page. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LockstepError } from '../../base/errors.ts';
import { requirePerson } from '../access/guard.ts';
import type { Done, Taking } from '../actions/actions.ts';
import { pageFailure } from '../failures.ts';
import type { Said } from '../layout.tsx';
import type { ConsoleNeeds } from '../needs.ts';
import { filledIn } from '../page.ts';
import { say } from './flash-message.ts';

export interface SentForm {
  readonly taking: Taking;
  readonly params: unknown;
  /** The fields that are filled in; of fields with the same name the last one. */
  readonly given: Readonly<Record<string, string>>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A form at `path`. `answer` returns the address of the next page. @throws LockstepError CONSOLE_SIGN_IN */
export function onForm(app: FastifyInstance, path: string, answer: (form: SentForm) => Promise<string>): void {
  app.post(path, async (request, reply) => {
    const taking = takingOf(request);
    const given = filledIn(Object.fromEntries(submittedForm(request)));
    return reply.redirect(await answer({ taking, params: request.params, given, request, reply }), 303);
  });
}

/** @throws LockstepError CONSOLE_SIGN_IN */
export function takingOf(request: FastifyRequest): Taking {
  return { person: requirePerson(request), via: 'page' };
}

/** Says what was done, or why it was not. Undefined if it was not. `link`: where a person sees what was done, or undoes it. */
export async function tell(
  reply: FastifyReply,
  needs: Pick<ConsoleNeeds, 'database'>,
  work: () => Promise<Done>,
  link?: Said['link'],
): Promise<Done | undefined> {
  try {
    const done = await work();
    const isDone = done.refused === undefined;
    say(reply, { tone: isDone ? 'good' : 'bad', text: done.said, link: isDone ? link : undefined });
    return done;
  } catch (error) {
    if (!(error instanceof LockstepError) || pageFailure(error, needs.database).httpStatus < 409) throw error;
    say(reply, { tone: 'bad', text: error.message });
    return undefined;
  }
}

export function submittedForm({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}
