/** Signing in and out. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { keepAction } from '../../engine/ledger/console/console-actions.ts';
import { OPERATOR } from '../../settings/schema-console.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { takeSaid } from '../forms/flash-message.ts';
import { submittedForm } from '../forms/forms.ts';
import { type Frame, renderFrame } from '../layout.tsx';
import { Field, Hidden, Submit } from '../parts/inputs.tsx';
import { readGiven } from '../read-given.ts';
import { COOKIE, setSession } from './guard.ts';
import { type People, SESSION_MS } from './people.ts';

/** Tries of one address. */
const TRIES = { max: 10, timeWindow: '5 minutes' };

const form = z.object({
  name: z.string().max(64).prefault(OPERATOR),
  password: z.string().max(1_000),
  to: z.string().prefault('/'),
});

export async function addLogin(
  app: FastifyInstance,
  { people, pool, hint }: Pick<Frame, 'hint'> & { readonly people: People; readonly pool: Queryable },
): Promise<void> {
  await app.register(rateLimit, { global: false });
  app.get('/login', (request, reply) => {
    if (request.person) return reply.redirect('/');
    const { to } = readGiven(z.object({ to: z.string().prefault('/') }), request.query);
    const ended = request.cookies[COOKIE] === undefined ? undefined : 'Your session has ended. Sign in again.';
    const problem = takeSaid(request, reply)?.text ?? ended;
    return reply.type('text/html; charset=utf-8').send(loginPage({ hasNames: people.hasNames, hint, to, problem }));
  });
  app.post('/login', { config: { rateLimit: TRIES } }, async (request, reply) => {
    const { name, password, to } = readGiven(form, Object.fromEntries(submittedForm(request)));
    const entered = await people.signIn(name, password);
    const refused = entered ? undefined : 'PASSWORD_WRONG';
    await keepAction(pool, { who: name, via: 'page', action: 'sign-in', about: request.ip, refused });
    if (entered) {
      setSession(reply, entered.cookie, SESSION_MS);
      return reply.redirect(ownPath(to), 303);
    }
    const problem = people.hasNames ? 'The name or the password is wrong.' : 'The password is wrong.';
    const html = loginPage({ hasNames: people.hasNames, hint, to, name, problem });
    return reply.code(401).type('text/html; charset=utf-8').send(html);
  });
  app.post('/logout', async (request, reply) => {
    const cookie = request.cookies[COOKIE];
    if (cookie !== undefined) await people.signOut(cookie);
    setSession(reply, undefined, 0);
    return reply.redirect('/login', 303);
  });
}

/** Only a path of the console: `//other.example` would lead to another site. */
function ownPath(to: string): string {
  return /^\/(?![/\\])/.test(to) ? to : '/';
}

interface Asked extends Pick<Frame, 'hint'> {
  readonly hasNames: boolean;
  readonly to: string;
  readonly name?: string;
  readonly problem?: string | undefined;
}

function loginPage({ hasNames, hint, to, name, problem }: Asked): string {
  const content = (
    <form class="login card" method="post" action="/login">
      <h1>Sign in</h1>
      {problem !== undefined && (
        <p class="said bad" role="alert">
          {problem}
        </p>
      )}
      {hasNames && <Field label="Name" name="name" value={name ?? ''} autocomplete="username" required />}
      <Field label="Password" type="password" name="password" autocomplete="current-password" required />
      <Hidden values={{ to }} />
      <Submit label="Sign in" primary />
    </form>
  );
  return renderFrame('Sign in', content, { person: undefined, hasSession: false, hint, tab: undefined });
}
