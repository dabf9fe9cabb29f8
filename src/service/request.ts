/** Turns a request into typed values by the schemas of the operations table, or into a refusal that names the field. */
import type { z } from 'zod';

export type Parsed<T> =
  | { readonly status: 'ok'; readonly value: T }
  | { readonly status: 'bad'; readonly message: string };

const MAX_ISSUES = 3;
const MAX_DEPTH = 16;

/** Checks `input` against `schema`; unknown members are left out. */
export function parse<T extends z.ZodObject>(schema: T, input: unknown): Parsed<z.output<T>> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, MAX_ISSUES).map((issue) => wordsOf(issue));
    return { status: 'bad', message: issues.join('; ') };
  }
  for (const [name, value] of Object.entries(parsed.data)) {
    const flaw = flawIn(value, 0);
    if (flaw !== undefined) return { status: 'bad', message: `${name}: ${flaw}` };
  }
  return { status: 'ok', value: parsed.data };
}

/** The body as a JSON object with unchecked members. */
export function parseObject(body: unknown): Parsed<Readonly<Record<string, unknown>>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return { status: 'ok', value: Object.fromEntries(Object.entries(body)) };
  }
  return { status: 'bad', message: `body: expected a JSON object, received ${nameOf(body)}` };
}

function wordsOf(issue: z.core.$ZodIssue): string {
  const field = issue.path.length === 0 ? 'body' : issue.path.join('.');
  return `${field}: ${issue.message.replace(/^Invalid input: /, '')}`;
}

/** Why Postgres could not store the value as text or jsonb, if it could not. */
function flawIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') {
    return /[\0\p{Cs}]/u.test(value) ? 'holds a NUL character or half of a surrogate pair' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  for (const [name, inner] of Object.entries(value)) {
    const flaw = flawIn(name, depth) ?? flawIn(inner, depth + 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function nameOf(body: unknown): string {
  if (body === undefined) return 'nothing';
  if (body === null) return 'null';
  return Array.isArray(body) ? 'an array' : `a ${typeof body}`;
}
