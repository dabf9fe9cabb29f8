/** The settings of a target of the type http: the calls of any system with an HTTP API, as templates. */
import { z } from 'zod';
import { duration } from './durations.ts';
import { atMostOneOf, choice, exactlyOneOf, flag, nonEmpty, unlessKeysAreUnknown } from './fields.ts';
import { anyOauthClient } from './target-credentials.ts';
import { callHeaderName, filterKeys, headers, withoutSecretTexts } from './target-events.ts';
import { columns, httpKeys, vendorUrl } from './target-keys.ts';
import { type About, CURSOR, template, textItemProblem, variablesOf } from './template.ts';

const pointer = z
  .string()
  .regex(/^(\/([^~]|~[01])*)?$/, 'expected a JSON pointer, such as /data/id, or "" for the whole answer');

/** A regular expression, as a part of one that Lockstep puts together. */
const pattern = nonEmpty.max(500).superRefine((text, context) => {
  try {
    if (new RegExp(`^(?<id>${text})$`).test(''))
      context.addIssue({ code: 'custom', message: 'must not match an empty text' });
  } catch {
    context.addIssue({ code: 'custom', message: 'not a valid regular expression', continue: false });
  }
});

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const SECRET_REMEDY = 'write it under headers of the target, as { env: NAME } or { file: PATH }';

/** A template with a variable holds no secret: it could not be filled in. */
function isPlainText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('{{');
}

function call<Extra extends z.ZodRawShape>(method: 'GET' | 'POST', about: About, extra: Extra) {
  const keys = {
    method: z
      .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      .prefault(method)
      .describe(`Method of the call. Default: ${method}.`),
    path: template('path', about)
      .refine(
        (text) => text === '' || text.startsWith('/'),
        'expected a path that starts with /, such as /tasks/{{ item }}',
      )
      .refine(
        (text) => !/[?#\s]/.test(text.replaceAll(/\{\{.*?\}\}|\{%.*?%\}/gs, '')),
        'expected a path without spaces, ? and #; put parameters under query',
      )
      .prefault('')
      .describe('Template of the path after the url. Default: none.'),
    query: z
      .record(z.string().min(1), template('text', about))
      .prefault({})
      .describe('Templates of the parameters in the address. Default: none.'),
    headers: z
      .record(callHeaderName, template('header', about))
      .check(withoutSecretTexts(SECRET_REMEDY, isPlainText))
      .prefault({})
      .describe(
        'Templates of headers of this call, such as { Idempotency-Key: "{{ delivery }}" }. Content-Type is application/json, unless it is here. Default: none.',
      ),
    body: template('json', about).optional().describe('Template of the body; it must yield JSON. Default: no body.'),
    form: z
      .record(z.string().min(1), template('text', about))
      .optional()
      .describe('Templates of the fields of a form (application/x-www-form-urlencoded). Instead of body.'),
  };
  return z.strictObject({ ...keys, ...extra }).check(atMostOneOf(['body', 'form']));
}

type Texts = Readonly<Record<string, string>>;
interface Templates {
  readonly path: string;
  readonly query: Texts;
  readonly headers: Texts;
  readonly body?: string | undefined;
  readonly form?: Texts | undefined;
}

/** Whether a template of the call uses this variable. */
export function usesVariable(name: string, { path, body = '', query, form = {}, headers }: Templates): boolean {
  const texts = [path, body, ...[query, form, headers].flatMap((named) => Object.values(named))];
  return texts.some((text) => variablesOf(text, 'text').includes(name));
}

const MOST_DIGITS = 20;

/** Whether ids of this form are numbers, which a body may hold without quotes. */
function areNumbers(id: string): boolean {
  const pattern = new RegExp(`^(?:${id})$`);
  const numbers = Array.from({ length: MOST_DIGITS }, (_, index) => '1'.repeat(index + 1));
  return (
    numbers.some((number) => pattern.test(number)) && !['item-12', 'a', 'abcdef12'].some((text) => pattern.test(text))
  );
}

const items = z
  .strictObject({
    noun: nonEmpty
      .max(60)
      .prefault('item')
      .describe('What an item is called in messages, such as Trello card. Default: item.'),
    sign: z
      .string()
      .regex(/^[A-Z][A-Z\d_]{1,29}$/, 'expected a word in capitals, such as TRELLO')
      .describe('Word before an id in the text of a task, as in TRELLO: 5f2b. No default.'),
    id: pattern.prefault('[\\w-]{1,64}').describe('Regular expression of an id. Default: [\\w-]{1,64}.'),
    address: pattern
      .optional()
      .describe(
        'Regular expression of the address of an item up to its id, such as https://trello\\.com/c/. Default: none.',
      ),
    state: z
      .strictObject({
        at: pointer.describe(
          'JSON pointer to the state in the record of an item. A step such as columnId=12 leads to the element of a list with that member. No default.',
        ),
        completed: z.array(scalar).min(1).optional().describe('Values of the state that mean completed. No default.'),
        open: z
          .array(scalar)
          .min(1)
          .optional()
          .describe(
            'Values that mean open; all others mean completed. [null] is for a time, or for a member that may be left out. Instead of completed.',
          ),
      })
      .check(exactlyOneOf(['completed', 'open']))
      .describe('How an item shows whether it is completed.'),
    read: call('GET', 'item', {
      record: pointer
        .prefault('')
        .describe('JSON pointer to the record of the item in the answer. Default: the whole answer.'),
      deleted: z
        .strictObject({
          at: pointer.describe('JSON pointer to a member of the record, such as /in_trash. No default.'),
          values: z.array(scalar).min(1).optional().describe('Values of the member that mean deleted. No default.'),
          except: z
            .array(scalar)
            .min(1)
            .optional()
            .describe(
              'Values that mean not deleted; all others mean deleted. [null] is for a time. Instead of values.',
            ),
        })
        .check(exactlyOneOf(['values', 'except']))
        .optional()
        .describe('How a record shows that its item is deleted, for a system with a trash. Default: none.'),
    }).describe('The call that reads an item.'),
    complete: call('POST', 'write', {}).describe('The call that completes an item.'),
    reopen: call('POST', 'write', {}).describe('The call that reopens an item.'),
    confirm: flag.describe(
      'Whether an item is read again after it was changed, for a system that may accept a change and not make it. Default: false.',
    ),
    whenGone: choice(['leave', 'close'], 'leave').describe(
      'What happens to the item of a task that is gone: leave, or close, which completes it. Default: leave.',
    ),
    create: call('POST', 'change', {
      newId: pointer.describe('JSON pointer to the id of the new item in the answer. No default.'),
      isIdempotent: flag.describe(
        'Whether a repeated call creates nothing and answers the same id. Default: false, which needs find.',
      ),
    })
      .optional()
      .describe('The call that creates an item for a task without one. Default: none, the task is skipped.'),
    find: call('GET', 'find', {
      list: pointer.describe('JSON pointer to the list of items in the answer. No default.'),
      isListOptional: flag.describe(
        'Whether an answer without items is a 204, leaves the list out, or writes null for it. Default: false.',
      ),
      itemId: pointer.describe('JSON pointer to the id in the record of an item. No default.'),
      marker: pointer
        .optional()
        .describe('JSON pointer to the text or the list in the record that holds the marker. No default.'),
      readMarker: pointer
        .optional()
        .describe(
          'For a search that shows only ids: JSON pointer to the marker in the record that read shows. Each found item is read. Instead of marker.',
        ),
      more: pointer
        .optional()
        .describe(
          'JSON pointer to a member that only an answer with a part of the items has, such as /nextPageToken. The next page is read if the call uses the value as cursor, or if the value, or the header Link, is an address below url; otherwise no item is created. Default: none.',
        ),
      settle: duration({ maxMs: 3_600_000 })
        .prefault('1m')
        .describe('How long an item may exist before this call shows it. Default: 1m.'),
    })
      .check(exactlyOneOf(['marker', 'readMarker']))
      .refine((find) => find.more !== undefined || !usesVariable(CURSOR, find), {
        error: 'missing: a call that uses cursor needs it',
        path: ['more'],
        when: ({ issues }) => issues.length === 0, // its templates can be read
      })
      .transform(({ settle: settleMs, ...find }) => ({ ...find, settleMs }))
      .optional()
      .describe('The call that finds the item that was created for a task, by its marker. Default: none.'),
  })
  .refine(({ create, find }) => create === undefined || create.isIdempotent || find !== undefined, {
    error: 'missing: create needs find, so that no item is created twice; or set isIdempotent: true for create',
    path: ['find'],
    when: unlessKeysAreUnknown,
  })
  .superRefine(({ id, read, complete, reopen }, context) => {
    if (areNumbers(id)) return;
    for (const [key, { body }] of Object.entries({ read, complete, reopen })) {
      const message = body === undefined ? undefined : textItemProblem(body);
      if (message !== undefined) context.addIssue({ code: 'custom', message, path: [key, 'body'] });
    }
  })
  .describe('Items whose state follows the task. Instead of send.');

/** HTTP statuses, and codes of the system as `code` finds them. */
const cases = z.array(z.union([z.int().min(100).max(599), nonEmpty])).prefault([]);

const answers = z
  .strictObject({
    error: pointer
      .optional()
      .describe('JSON pointer to a member that only answers about errors have, also with status 200. Default: none.'),
    success: pointer
      .optional()
      .describe('JSON pointer to a member that is false in answers about errors. Default: none.'),
    code: pointer
      .optional()
      .describe('JSON pointer to the code of an error; "" is the whole answer, also one in plain text. Default: none.'),
    message: pointer.optional().describe('JSON pointer to the explanation of an error. Default: none.'),
    applied: cases.describe('Statuses and codes that mean that the call succeeded. Default: 2xx without a web page.'),
    missing: cases.describe('Statuses and codes that mean that the item does not exist. Default: 404, 410.'),
    disabled: cases.describe(
      'Statuses and codes that mean that the target accepts nothing, such as a refused token. Default: 401.',
    ),
    limited: cases.describe('Statuses and codes that ask to slow down. Default: 429.'),
    retry: cases.describe('Statuses and codes of failures that may pass. Default: 408, 409, 412, 423, 5xx.'),
    refused: cases.describe('Statuses and codes that a retry does not change. Default: the other 4xx.'),
  })
  .prefault({})
  .describe('What the answers of the system mean.');

export const http = z
  .strictObject({
    type: z.literal('http').describe('Any system with an HTTP API, by templates of its calls.'),
    url: vendorUrl.describe('Base address of the API. No default.'),
    headers,
    oauthClient: anyOauthClient,
    send: call('POST', 'change', {}).optional().describe('The call for each change. Instead of items.'),
    items: items.optional(),
    answers,
    columns,
    ...filterKeys,
    ...httpKeys({ requests: 2, perMs: 1000, concurrency: 4 }),
  })
  .check(exactlyOneOf(['send', 'items']))
  .refine(({ headers, oauthClient }) => oauthClient === undefined || !Object.keys(headers).some(isAuthorization), {
    error: 'remove Authorization: oauthClient sends it',
    path: ['headers'],
    when: unlessKeysAreUnknown,
  });

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}

export type HttpRequest = NonNullable<z.output<typeof http>['send']>;
export type HttpItems = NonNullable<z.output<typeof http>['items']>;
export type HttpAnswers = z.output<typeof answers>;
