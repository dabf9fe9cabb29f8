/** Requests to the console and its API: each gets an answer as it is described, and a refusal says what is wrong. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { LockstepError } from '../../src/base/errors.ts';
import { endpoints } from '../../src/console/api/endpoints.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { startRun } from '../../src/engine/ledger/runs.ts';
import { openConsole, SETTINGS } from '../console/open-console.ts';
import { freshDatabase } from '../support/database.ts';
import { broken, expectMessage, fuzz } from './fuzz.ts';

let run = '';
const refuse = async (name: string) => Promise.reject(new LockstepError('NOT_HERE', `no ${name} here`));
const database = await freshDatabase();
const text = `${SETTINGS}\nsyncs: { nightly: { type: contacts, account: acme } }`;
const web = await openConsole({ database, text, openAccount: refuse, examine: refuse, targets: { open: refuse } });
const sync = { sync: 'nightly', resource: 'nightly', type: 'contacts', account: 'acme', lane: 'batch' } as const;
const started = await startRun(database.pool, { ...sync, dryRun: false, options: {}, phase: 'scan-contacts' });
run = started.run.id;
await addRows(database.pool, run, [{ n: 0, sourceId: 'c0', label: 'Ann', verdict: 'review', reason: 'AMBIGUOUS' }]);
await endRun(database.pool, run, 'done');
afterAll(async () => {
  await web.close();
  await database.close();
});

/** What is wrong with an answer of the API, by the document that the API gives of itself; null if nothing is. */
async function problemsOf(method: string, path: string, answer: unknown): Promise<unknown> {
  documented ??= new Ajv2020({ strict: false, validateFormats: false }).addSchema(
    JSON.parse(await (await fetch(`${web.url}/api/v1/openapi.json`)).text()),
    'api',
  );
  const at = [...endpoints]
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length) // a word comes before a parameter
    .find((one) => one.method === method && matches(one.path, path));
  const names = ['paths', at?.path ?? '', method.toLowerCase(), 'responses', '200', 'content', 'application/json'];
  const pointer = names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')));
  documented.validate({ $ref: `api#/${pointer.join('/')}/schema` }, answer);
  return documented.errors;
}
let documented: Ajv2020 | undefined;

function matches(template: string, path: string): boolean {
  return new RegExp(`^/api/v1${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.replace(/\?.*/, ''));
}

interface Request {
  readonly method: string;
  /** With RUN for the id of a run. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

const PAGES =
  '/ /runs /runs/RUN /runs/RUN/rows /runs/RUN/rows/c0 /runs/RUN/rows.csv /runs/RUN/approve /runs/RUN/fix /review /review/confirm /syncs /accounts /accounts/acme /settings /queues /activity /deliveries /deliveries/1 /links /links.csv /records /records/acme/contacts /load /load/x /calls/x /runs/RUN/results/review /targets/t /confirm/resume';
const FORMS =
  '/links/remove /review/items/1/decide /review/items/1/undo /review/confirm /records/acme/call/contacts.create /calls/x/again /calls/x/applied /load/x /runs/RUN/approve /runs/RUN/fix /deliveries/replay /deliveries/1/replay /targets/t/enable /targets/t/test /runs/RUN/cancel /syncs/nightly/pause /accounts/acme/examine /accounts/acme/resume /confirm/cancel';
const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ...PAGES.split(' ').map((path) => ['GET', path] as const),
  ...FORMS.split(' ').map((path) => ['POST', path] as const),
  ...endpoints.map(({ method, path }) => [method, `/api/v1${path}`] as const),
];
const NAMES =
  'after limit from to text q verdict account id ids choice record reason plan seen target since minutes step'.split(
    ' ',
  );
const VALUES =
  '1 -1 1e9 9999999999 2026-11-23 0001-01-01 275760-09-13 ["a","b","c"] [1] review RUN acme 99999999999999999999 %'.split(
    ' ',
  );
const value = broken(fc.constantFrom(...VALUES), ['%00', '%', '+', '\ud800']);
const pairs = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 4 });
const query = pairs.map((given) => String(new URLSearchParams(given)));
const json = fc.oneof(pairs, fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(fc.jsonValue(), fc.array(value))));
const path = fc.tuple(fc.constantFrom(...ROUTES), fc.array(value, { minLength: 3, maxLength: 3 }), query, fc.boolean());
const requests: fc.Arbitrary<Request> = fc
  .tuple(
    path,
    broken(query, ['%zz', '&&', '==']),
    broken(json.map((given) => JSON.stringify(given))),
    fc.constantFrom('json', 'form', 'csv'),
  )
  .map(([[[method, route], names, asked, isKnown], form, text, type]) => {
    let next = 0;
    const filled = route.replaceAll(/\{(\w+)\}/g, (_, name) =>
      isKnown && name === 'run' ? 'RUN' : names[next++] || 'x',
    );
    const address = encodeURI(filled.toWellFormed()).replaceAll(/[?#]/g, '%3F');
    return { method, path: `${address}?${asked}`, type, body: type === 'form' ? form : text };
  });
const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  csv: 'text/csv',
};

fuzz('answers every request to the console, and says what is wrong with it', {
  corpus: ROUTES.map(([method, path]) => ({
    method,
    path: path.replaceAll('{run}', 'RUN').replaceAll(/[{}]/g, ''),
    type: 'json',
    body: '{}',
  })),
  inputs: requests,
  async check({ method, path, type, body }) {
    const { host, origin } = new URL(web.url);
    const headers = { host, origin, 'content-type': TYPES[type] ?? '' };
    const sent = method === 'GET' ? {} : { body: body.replaceAll('RUN', run) };
    const answer = await fetch(`${web.url}${path.replaceAll('RUN', run)}`, {
      method,
      headers,
      redirect: 'manual',
      ...sent,
    });
    const text = await answer.text();
    expect(answer.status, text).toBeLessThan(500);
    const isApi = path.startsWith('/api/');
    if (answer.status === 200 && isApi)
      return expect(await problemsOf(method, path, JSON.parse(text)), text).toBeNull();
    if (answer.status < 400) return;
    if (!isApi) return expect(text.trim()).not.toBe('');
    const { error } = JSON.parse(text);
    expect(error.code).toMatch(/^[A-Z][A-Z_]+$/);
    expectMessage(error.message.replaceAll(/"[^"]*"|received (?:undefined|NaN)/g, ''));
  },
});
