/** The message about the last action: kept in a cookie until the next page shows it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Said } from '../layout.tsx';

const COOKIE = 'lockstep-said';
const MOST = 1_000;
const schema = z.object({
  tone: z.enum(['good', 'bad']),
  text: z.string(),
  link: z.object({ path: z.string(), words: z.string() }).optional(),
});

export function say(reply: FastifyReply, { tone, text, link }: Said): void {
  const value = Buffer.from(JSON.stringify({ tone, text: text.slice(0, MOST), link })).toString('base64url');
  reply.setCookie(COOKIE, value, { path: '/', httpOnly: true, sameSite: 'strict', maxAge: 60 });
}

/** Undefined if there is none. It is shown once. */
export function takeSaid(request: FastifyRequest, reply: FastifyReply): Said | undefined {
  const value = request.cookies[COOKIE];
  if (value === undefined) return undefined;
  reply.clearCookie(COOKIE, { path: '/' });
  try {
    return schema.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString())).data;
  } catch {
    return undefined; // not written here
  }
}
