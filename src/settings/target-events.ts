/** Keys of targets that receive changes over HTTP: which changes, and the headers of each call. */
import { z } from 'zod';
import { TASK_EVENTS, type TaskEvent, type TaskState } from '../contract/target.ts';
import {
  envName,
  exactlyOneOf,
  type SecretSource,
  scheme,
  secretFile,
  toSource,
  unlessKeysAreUnknown,
} from './fields.ts';
import { explainType } from './issues.ts';

/** Which changes a target receives. A change that does not match is skipped. */
export interface ChangeFilter {
  /** Undefined: all. */
  readonly events?: readonly TaskEvent[] | undefined;
  /** The allowed values of each field. */
  readonly fields: Readonly<Partial<Record<keyof TaskState, readonly (string | boolean)[]>>>;
}

export const filterKeys = {
  events: z
    .array(z.enum(TASK_EVENTS))
    .min(1)
    .optional()
    .describe(`Deliver only these events: ${TASK_EVENTS.join(', ')}. Default: all.`),
  fields: z
    .partialRecord(
      z.enum(['kind', 'id', 'title', 'status', 'isCompleted', 'isGone', 'parentId']),
      z.array(z.union([z.string(), z.boolean()])).min(1),
    )
    .prefault({})
    .describe(
      'Deliver only tasks that have one of these values in each field, such as { kind: [card] }. Default: all.',
    ),
};

/** Sent as the value of a header, after the scheme if there is one. */
export type HeaderSecret = SecretSource & { readonly scheme?: string };

/** For a header that carries a secret, a text in the settings would be shown by `settings print`. Jira's X-Atlassian-Token is `no-check`. */
const SECRET_NAME = /authorization|(?<!^x-atlassian-)token|secret|password|cookie|api-?key/i;
const OWN_NAME = /^(host|connection|content-length|transfer-encoding|webhook-.*|ce-.*)$/i;

const headerSecret = z
  .strictObject({
    scheme: scheme.optional().describe('The word before the secret, such as Bearer. Default: none.'),
    env: envName.optional(),
    file: secretFile.optional(),
  })
  .check(exactlyOneOf(['env', 'file']))
  .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] })
  .transform(({ scheme, ...source }): HeaderSecret => {
    return { ...(toSource(source) ?? z.NEVER), ...(scheme !== undefined && { scheme }) };
  });

const OWN_HEADER = { error: 'Lockstep sets this header itself: remove it' };

/** Of one call, whose settings know the type of its body. */
export const callHeaderName = z
  .string()
  .regex(/^[\w!#$%&'*+.^|~-]{1,100}$/, 'expected the name of a header, such as X-Team')
  .refine((name) => !OWN_NAME.test(name), OWN_HEADER);

/** For `.check` of headers: none of these texts is a secret. */
export function withoutSecretTexts(
  remedy: string,
  isText: (value: unknown) => boolean = (value) => typeof value === 'string',
) {
  return z.superRefine<Readonly<Record<string, unknown>>>(
    (given, context) => {
      for (const [name, value] of Object.entries(given)) {
        if (!isText(value) || !SECRET_NAME.test(name)) continue;
        context.addIssue({ code: 'custom', path: [name], message: `this header carries a secret: ${remedy}` });
      }
    },
    { when: unlessKeysAreUnknown },
  );
}

const headerName = callHeaderName.refine((name) => name.toLowerCase() !== 'content-type', OWN_HEADER);

export const headers = z
  .record(
    headerName,
    z.union([z.string().regex(/^[\x20-\x7e]{1,2000}$/, 'expected one line of printable ASCII'), headerSecret], {
      error: ({ input }) => explainType('text, { env: NAME } or { file: PATH }', input),
    }),
  )
  .check(withoutSecretTexts('write { env: NAME } or { file: PATH }, with a scheme if needed'))
  .prefault({})
  .describe('Headers of every call: text, or { scheme: Bearer, env: NAME } for a secret. Default: none.');
