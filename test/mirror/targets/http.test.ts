/** Calls of any system with an HTTP API, as the settings describe them. */
import { expect, test } from 'vitest';
import { TOKEN } from '../../support/item-vendor.ts';
import { exampleAt } from '../../support/template-vendors.ts';
import { HttpBed } from './http-bed.ts';

const bed = new HttpBed();
const { deliver } = bed;

test('sends each change by the call of the settings, escaped for each place', async () => {
  const outcome = await deliver({}, { id: '1/../2?x', title: '"a"\n', endDate: '2026-03-02T09:00:00' });
  expect(outcome).toMatchObject({ status: 'delivered', answer: { httpStatus: 200 } });
  const [{ method, path, headers, body } = {}] = bed.server.requests as Partial<(typeof bed.server.requests)[number]>[];
  expect({ method, path }).toEqual({ method: 'PUT', path: '/external-tasks/1%2F..%2F2%3Fx' });
  expect(headers).toMatchObject({ 'x-api-key': TOKEN, 'idempotency-key': 'msg_abcdefghijklmnopqrstuvwx' });
  expect(JSON.parse(body ?? '')).toEqual({ title: '"a"', done: false, due: '2026-03-02T09:00:00', version: 2 });
});

test('each line of a text can be a quotation, so that none is a command of the system', async () => {
  const { send } = exampleAt('our-crm');
  const body = '{ "description": "> {{ text | replace: "\\n", "\\n> " }}" }';
  await deliver({ send: send && { ...send, body } }, { description: '/close\nsee below\n/assign @root' });
  expect(JSON.parse(bed.server.requests[0]?.body ?? '').description).toBe(
    '> /close\n> see below\n> /assign @\u200broot',
  );
});

test('a header of a call is one line of ASCII, whatever the task has', async () => {
  const { send } = exampleAt('our-crm');
  await deliver({ send: send && { ...send, headers: { 'X-Title': '{{ task.title }}' } } }, { title: 'a\r\nX-B: 📞' });
  expect(bed.server.requests[0]?.headers['x-title']).toBe('a%0D%0AX-B: %F0%9F%93%9E');
});

test('a form has each field as the system reads it, and a parameter without a text is left out', async () => {
  const { send } = exampleAt('our-crm');
  const form = { title: '{{ title }}', due: '{{ task.endDate }}' };
  const query = { after: '{{ task.endDate }}', kind: '{{ task.kind }}' };
  const outcome = await deliver({ send: send && { ...send, body: undefined, form, query } }, { title: 'a & b = 📞' });
  expect(outcome).toMatchObject({ status: 'delivered' });
  const [{ headers = {}, body, query: sent } = {}] = bed.server.requests as Partial<
    (typeof bed.server.requests)[number]
  >[];
  expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect([...new URLSearchParams(body)]).toEqual([
    ['title', 'a & b = 📞'],
    ['due', ''],
  ]);
  expect(String(sent)).toBe('kind=task');
});

test.each([
  [{}, 'application/json'],
  [{ Accept: 'application/vnd.api+json' }, 'application/vnd.api+json'],
])('with the headers %j of the settings a call accepts %s', async (headers, accept) => {
  await deliver({ headers });
  expect(bed.server.requests[0]?.headers).toMatchObject({ accept, 'user-agent': 'lockstep' });
});

test('a call can have the method DELETE', async () => {
  const { send } = exampleAt('our-crm');
  await deliver({ send: send && { ...send, method: 'DELETE', body: undefined } });
  expect(bed.server.requests).toMatchObject([{ method: 'DELETE', body: '' }]);
});

test('a call without a path goes to the url itself, with its parameters', async () => {
  const { send } = exampleAt('our-crm');
  await deliver({ send: send && { ...send, path: '', query: { title: '{{ title }}' } } }, { title: 'a&b' });
  expect(bed.server.requests[0]).toMatchObject({ path: '/', query: new URLSearchParams({ title: 'a&b' }) });
});
