/** Fields that several sections of the settings share: names, secrets, URLs, addresses. */
import { z } from 'zod';
import { Hidden, hiddenUrl } from './hidden.ts';
import { explainType } from './issues.ts';
import { oneOf } from './message-parts.ts';

/** Where a secret comes from. The text itself is read when it is used (secrets.ts). */
export type SecretSource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'literal'; readonly value: Hidden };

/** The source of a secret, and the setting that needs it, such as `accounts.demo.apiKey`. */
export type SecretRef = SecretSource & { readonly where: string };

/** Whether a parsed value is a secret, from any source. */
export function isSecretSource(value: unknown): value is SecretSource {
  if (typeof value !== 'object' || value === null || !('from' in value)) return false;
  if (value.from === 'literal') return 'value' in value && value.value instanceof Hidden;
  return (value.from === 'env' && 'name' in value) || (value.from === 'file' && 'path' in value);
}

/** Like `isSecretSource`, for resolved settings. */
export function isSecretRef(value: unknown): value is SecretRef {
  return isSecretSource(value) && 'where' in value;
}

/** The secrets that a part of the settings names. */
export function secretsIn(value: unknown): readonly SecretRef[] {
  if (isSecretRef(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

export const nonEmpty = z.string().min(1);
/** The word before a secret in a header. */
export const scheme = z.string().regex(/^[A-Za-z][\w-]*$/, 'expected one word, such as Bearer');
export const flag = z.boolean().prefault(false);
export const share = z.number().min(0).max(1);

/** One of `values`. */
export function choice<const Values extends readonly string[]>(values: Values, byDefault: Values[number]) {
  return z.enum(values).prefault(byDefault);
}

/** Names of accounts, syncs and targets. They become parts of Redis keys, job ids and URLs of the console. */
export const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name is 1 to 64 letters, digits, _ or -');

export const envName = z
  .string()
  .regex(/^[A-Za-z_]\w*$/, 'expected the name of an environment variable, such as LOCKSTEP_DEMO_KEY, without $')
  .describe('Name of the environment variable that holds the secret.');

export const secretFile = nonEmpty.describe(
  'Path of a file that holds nothing but the secret; relative to the settings file.',
);

/** A secret written in the file. `${X}` is refused because it looks like a variable, and variables are not replaced. */
export const literalSecret = nonEmpty.refine((text) => !/^\$\{?\w+\}?$/.test(text.trim()), {
  error: 'variables are not replaced in settings: write { env: NAME } instead',
});

/** For the `when` of a check of a map: each mistake is reported once. */
export function unlessKeysAreUnknown({ value, issues }: z.core.ParsePayload): boolean {
  return typeof value === 'object' && value !== null && !issues.some((issue) => issue.code === 'unrecognized_keys');
}

/** For `.check` of a map: it must have exactly one of `keys`. */
export function exactlyOneOf(keys: readonly string[], error = `expected exactly one of ${keys.join(', ')}`) {
  return z.refine<object>((value) => keys.filter((key) => Object.hasOwn(value, key)).length === 1, {
    error,
    when: unlessKeysAreUnknown,
  });
}

/** For `.check` of keys of which one excludes the others. */
export function atMostOneOf(keys: readonly string[]) {
  return z.refine<object>((value) => keys.filter((key) => Object.hasOwn(value, key)).length <= 1, {
    error: `expected only one of ${keys.join(', ')}`,
    when: unlessKeysAreUnknown,
  });
}

/** For `.check` of a map of names: it must not be empty. */
export function hasKeys(error: string) {
  return z.refine<object>((value) => Object.keys(value).length > 0, { error, when: unlessKeysAreUnknown });
}

/** `{ env: NAME }`, `{ file: PATH }` or the secret itself. */
export const secret = z.union(
  [
    literalSecret.transform((text): SecretSource => ({ from: 'literal', value: new Hidden(text) })),
    z
      .strictObject({ env: envName.optional(), file: secretFile.optional() })
      .check(exactlyOneOf(['env', 'file']))
      .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] })
      .transform((source): SecretSource => toSource(source) ?? z.NEVER),
  ],
  { error: ({ input }) => explainType('{ env: NAME }, { file: PATH } or the secret as text', input) },
);

/** The given source, if there is exactly one. */
export function toSource(given: { env?: string; file?: string; literal?: string }): SecretSource | undefined {
  if (given.env !== undefined) return { from: 'env', name: given.env };
  if (given.file !== undefined) return { from: 'file', path: given.file };
  return given.literal === undefined ? undefined : { from: 'literal', value: new Hidden(given.literal) };
}

/**
 * A text field: `read` returns its value or what is wrong with it. `expected` describes the field, for a value that is
 * not text.
 */
export function textAs<T>(read: (text: string) => { readonly value: T } | string, expected = 'text') {
  return z.string({ error: ({ input }) => explainType(expected, input) }).transform((text, context): T => {
    const result = read(text);
    if (typeof result !== 'string') return result.value;
    context.addIssue({ code: 'custom', message: result });
    return z.NEVER;
  });
}

const URL_FORM = 'a URL that starts with https:// or http://';
const EMBEDDED_OR_URL = `embedded or ${URL_FORM}`;

/** Undefined means `embedded`. Without a trailing slash; the prefix (/api/v1 or /v1) is not part of it. */
export const serviceUrl = textAs<string | undefined>((text) => {
  if (text === 'embedded') return { value: undefined };
  const base = baseUrl(text, EMBEDDED_OR_URL);
  const prefix = typeof base === 'string' ? undefined : /\/(?:api\/)?v1$/.exec(base.value)?.[0];
  return prefix === undefined
    ? base
    : `expected the base address only: leave out ${prefix}, which belongs in the account's prefix`;
}, EMBEDDED_OR_URL);

/** Without a trailing slash. */
export function baseUrl(text: string, expected = URL_FORM): { readonly value: string } | string {
  const problem = httpUrlProblem(text, expected);
  if (problem !== undefined) return problem;
  const { search, hash, href } = new URL(text);
  if (search !== '' || hash !== '') return 'expected a base address without ? and #';
  return { value: href.replace(/\/+$/, '') };
}

/** Hidden, because the URL of a webhook is often a secret. */
export const webhookUrl = textAs((text) => httpUrlProblem(text) ?? { value: hiddenUrl(text) });

/**
 * A database's URL with one of `schemes`, hidden because of its password. Undefined means `word`, the choice without a URL.
 * `other` reads URLs of other forms, with `otherSchemes`: it returns what is wrong with one, and undefined if the text has no such form.
 */
export function storeUrl(
  word: string,
  schemes: readonly string[],
  other: (text: string) => Hidden | string | undefined = () => undefined,
  otherSchemes: readonly string[] = [],
) {
  const expected = `${word} or a URL that starts with ${oneOf([...schemes, ...otherSchemes].map((scheme) => `${scheme}//`))}`;
  return textAs<Hidden | undefined>((text) => {
    if (text === word) return { value: undefined };
    const read = other(text);
    if (read !== undefined) return typeof read === 'string' ? read : { value: read };
    const isMeant = schemes.some((scheme) => text.startsWith(`${scheme}//`));
    if (isMeant && URL.canParse(text) && new URL(text).hash === '') return { value: hiddenUrl(text) };
    const hint = isMeant ? '; special characters of a password have to be percent-encoded, # is %23' : urlHint(text);
    // The text is not shown, because it may contain a password even if it is not a URL.
    return `expected ${expected}${hint}`;
  }, expected);
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const ADDRESS = 'an address and a port, such as 127.0.0.1:4000';

/** `127.0.0.1:4000` or `[::1]:4000`. */
export const listenAddress = textAs<ListenAddress>((text) => {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? `expected ${ADDRESS}` : { value: { host, port } };
}, ADDRESS);

/** Whether only this machine can reach `host`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|127(\.\d{1,3}){3})$/i.test(host.replaceAll(/[[\]]/g, ''));
}

function httpUrlProblem(text: string, expected = URL_FORM): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return `expected ${expected}${urlHint(text)}`;
  }
  if (url.username !== '' || url.password !== '') return 'a user name or password is not allowed in this URL';
  return undefined;
}

function urlHint(text: string): string {
  if (/\$\{?\w/.test(text)) return '; variables are not replaced in settings';
  return /^[\w.-]+(:\d+)?(\/|$)/.test(text) && text.includes('.') ? '; the scheme is missing' : '';
}
