/** Services that do not do what they answer when an order is written: nothing is lost, duplicated or misreported. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type CommandHarness, openCommandHarness } from '../e2e/commands.ts';
import { csvOf, ordersCsv } from '../support/harness/orders.ts';
import type { Reply } from '../support/http-server.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 300ms, concurrency: 4 }';
const CREATE = '/orders/create';
const ERROR = { body: { status: 'error', content: null, message: 'something went wrong' } };

const harness = await openCommandHarness({ account: ACCOUNT });
beforeEach(async () => {
  await harness.reset();
  harness.front.set();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const reasons = async (run: Parameters<CommandHarness['loaded']>[0]) =>
  (await harness.loaded(run)).map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' '));

test('a service that writes order_ids in capitals and loses answers: each order once, and the change is reported', async () => {
  let creates = 0;
  harness.front.set(async (request, pass) => {
    if (request.path.endsWith('/orders/getall')) {
      const { status, body } = await pass();
      return {
        status: status ?? 200,
        body: String(body).replaceAll(/"order_id"\s*:\s*"[^"]*"/g, (text) =>
          text.toUpperCase().replace('ORDER_ID', 'order_id'),
        ),
      };
    }
    if (!request.path.endsWith(CREATE)) return pass();
    const reply = await pass();
    return ++creates % 3 === 0 ? { status: 502, body: 'no' } : reply;
  });
  const csv = ordersCsv(12).replaceAll('O-', 'ord-');
  const run = await harness.load(csv);
  expect([run.status, await harness.tally(run)]).toEqual(['done', { in: 12, created: 12 }]);
  expect([...(await harness.orderCommits()).values()]).toEqual(Array(12).fill(1));
  expect(run.notes.join()).toMatch(/order_ids in another spelling, such as ord-\d+ as ORD-\d+/);
  const again = await harness.load(csv, { salt: 'again' });
  expect(await reasons(again)).toEqual(Array(12).fill('existing EXISTS'));
  expect((await harness.orderCommits()).size).toBe(12);
});

test('an order refused inside a 200 that a late list shows is created; one that does not exist is rejected', async () => {
  let isLate = false;
  harness.front.set(async (request, pass) => {
    const reply = request.body.includes('"O-2"') ? ERROR : await pass();
    if (request.path.endsWith('/orders/getall') && isLate) {
      isLate = false; // the next read shows it
      return { body: String(reply.body).replaceAll('"O-1"', '"hidden"') };
    }
    if (!request.body.includes('"O-1"')) return reply;
    isLate = true;
    return ERROR;
  });
  const run = await harness.load(ordersCsv(4));
  expect(await reasons(run)).toEqual(['created', 'rejected REFUSED_BY_SERVICE', 'created', 'created']);
  expect((await harness.loaded(run))[1]?.facts).toMatchObject({ answer: 'something went wrong' });
  expect([...(await harness.orderCommits()).values()]).toEqual([1, 1, 1]);
});

test('a load notes the customers that the service made without their phone, if it shows those of others', async () => {
  harness.front.set(async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith('/customers/getall')) return reply;
    return { body: String(reply.body).replaceAll('"+49 30 5550002"', 'null') };
  });
  const people = ['A,Ann Lee,ann@example.com,+49 30 5550001', 'B,Ben Lee,ben@example.com,+49 30 5550002'];
  const csv = csvOf('order_id,customer_name,customer_email,customer_phone', people);
  const run = await harness.load(csv, { createCustomers: true });
  expect(await reasons(run)).toEqual(['created', 'created']);
  expect(run.notes.join()).toMatch(
    /1 customer that was created does not show what was sent, such as the phone_number of customer \d+: correct this/,
  );
});

test('an order refused with 409 is sent once, and rejected with the words of the service unless a proxy had sent it twice', async () => {
  const creates: string[] = [];
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith(CREATE)) return pass();
    creates.push(request.body);
    if (request.body.includes('"O-1"')) await pass();
    const isRefused = /"O-[12]"/.test(request.body);
    return isRefused
      ? { status: 409, body: { status: 'error', message: 'taken by an order of another customer' } }
      : pass();
  });
  const run = await harness.load(ordersCsv(4));
  expect(await reasons(run)).toEqual(['created', 'rejected REFUSED_BY_SERVICE', 'created', 'created']);
  expect((await harness.loaded(run))[1]?.facts).toMatchObject({
    http: 409,
    answer: 'taken by an order of another customer',
  });
  expect([creates.length, [...(await harness.orderCommits()).values()]]).toEqual([4, [1, 1, 1]]);
});

test('an order that the service says is there after a lost answer, and does not list, is sent again once and needs a person', async () => {
  const creates: string[] = [];
  harness.front.set(async (request, pass) => {
    const label = request.path.endsWith(CREATE) ? JSON.parse(request.body).order_id : 'O-3';
    if (label === 'O-3') return pass();
    if (creates.push(label) <= 2) return { status: 502, body: 'no' };
    const message = label === 'O-1' ? 'conflict' : 'order_id has already been taken';
    return { status: label === 'O-1' ? 409 : 422, body: { status: 'error', message } };
  });
  const run = await harness.load(ordersCsv(3));
  expect(await reasons(run)).toEqual(['review NOT_IN_LIST', 'review NOT_IN_LIST', 'created']);
  const [first, second] = await harness.loaded(run);
  expect([first?.facts?.answer, second?.facts?.answer]).toEqual(['conflict', 'order_id has already been taken']);
  expect(creates.sort()).toEqual(['O-1', 'O-1', 'O-2', 'O-2']);
});

test('orders that the service gives to another customer, such as a parent company, are not sent again after a lost answer', async () => {
  harness.front.set(async (request, pass) => {
    if (request.path.endsWith(CREATE) && request.body.includes('"O-1"')) {
      const { order_id, amount } = JSON.parse(request.body);
      await harness.call('orders.create', { order_id, amount, client_id: 3 });
      return { status: 502, body: 'no' };
    }
    return pass();
  });
  const csv = 'order_id,client_id,amount\nO-1,1,10.00\nO-2,2,20.00\n';
  const run = await harness.load(csv);
  expect(await reasons(run)).toEqual(['review NOT_RECOGNISED', 'created']);
  expect(await reasons(await harness.load(csv, { salt: 'again' }))).toEqual([
    'review NOT_RECOGNISED',
    'existing EXISTS',
  ]);
  const booked = (await harness.orders()).map(({ order_id, client_id }) => `${order_id} ${client_id}`);
  expect(booked.sort()).toEqual(['O-1 3', 'O-2 2']);
});

test('two orders whose order_ids the service spells in the same way are no duplicates, and neither is sent again', async () => {
  let answered = 0;
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith(CREATE)) return pass();
    const body = JSON.parse(request.body);
    await harness.call('orders.create', { ...body, order_id: body.order_id.toUpperCase() });
    return ++answered === 1 ? { status: 502, body: 'no' } : { body: '' };
  });
  const csv = 'order_id,client_id,amount\nabc,1,10.00\nABC,1,20.00\nO-2,2,20.00\n';
  const run = await harness.load(csv);
  expect(await reasons(run)).toEqual(['review NOT_RECOGNISED', 'review NOT_RECOGNISED', 'created']);
  const again = await harness.load(csv, { salt: 'again' });
  expect(await reasons(again)).toEqual(['review NOT_RECOGNISED', 'review NOT_RECOGNISED', 'existing EXISTS']);
  expect((await harness.orders()).map(({ order_id }) => order_id).sort()).toEqual(['ABC', 'ABC', 'O-2']);
});

test('two orders whose order_ids the service turns into one number are no duplicates', async () => {
  harness.front.set(async (request, pass) => {
    const { status, body } = await pass();
    if (!request.path.endsWith('/orders/getall')) return { status, body };
    return { status, body: String(body).replaceAll(/"order_id"\s*:\s*"0*(\d+)"/g, '"order_id":$1') };
  });
  const csv = 'order_id,client_id,amount\n15,1,10.00\n0015,1,20.00\n0007,2,20.00\n';
  const run = await harness.load(csv);
  expect(await reasons(run)).toEqual(['review NOT_RECOGNISED', 'review NOT_RECOGNISED', 'created']);
  expect((await harness.orders()).map(({ order_id }) => order_id).sort()).toEqual(['0007', '0015', '15']);
});

test('orders of one customer that differ in upper and lower case are not called copies of a third one', async () => {
  await harness.load('order_id,client_id,amount\nabc,1,10.00\nABC,1,20.00\n');
  const run = await harness.load('order_id,client_id,amount\nAbc,1,10.00\n');
  expect(await reasons(run)).toEqual(['review OTHER_LETTERS']);
  const first = (await harness.orders()).find(({ id }) => id === 1); // either of them: they are sent at the same time
  expect((await harness.loaded(run))[0]?.facts).toEqual({ order: '1', name: first?.order_id });
});

test('an order that the service spells otherwise, with a status of its own, is known to the next load', async () => {
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith(CREATE)) return pass();
    const body = JSON.parse(request.body);
    await harness.call('orders.create', { ...body, order_id: body.order_id.toUpperCase(), status: 'Bezahlt' });
    return { body: '' };
  });
  const csv = 'order_id,client_id,amount,status\nabc,1,10.00,paid\n';
  expect(await reasons(await harness.load(csv))).toEqual(['review CONTENT_DIFFERS']);
  expect(await reasons(await harness.load(csv, { salt: 'again' }))).toEqual(['review DIFFERS']);
});

test('a copy of a rejected row is rejected with it, and follows it in a retry', async () => {
  let isRefusing = true;
  harness.front.set(async (request, pass) => {
    const isRefused = isRefusing && request.path.endsWith(CREATE) && request.body.includes('"O-1"');
    return isRefused ? { status: 422, body: { message: 'no such product' } } : pass();
  });
  const [one, two] = ['O-1,1,5', 'O-2,2,6'];
  const run = await harness.load(csvOf('order_id,client_id,amount', [one, two, one, two]));
  expect(await reasons(run)).toEqual([
    'rejected REFUSED_BY_SERVICE',
    'created',
    'rejected DUP_IN_FILE',
    'existing DUP_IN_FILE',
  ]);
  expect((await harness.loaded(run))[2]?.facts).toMatchObject({
    other: 2,
    because: { code: 'REFUSED_BY_SERVICE', facts: { answer: expect.stringContaining('no such product') } },
  });
  isRefusing = false;
  const { code, json } = await harness.here('runs', 'retry', run.id);
  expect([code, json.counts]).toMatchObject([0, { in: 4, created: 2, existing: 2 }]);
  expect((await harness.orderCommits()).size).toBe(2);
});

test.each([undefined, '+49 30 5550000'])(
  'a contact with the phone %s edited between scan and import, whose answer is lost, has one customer',
  async (phone) => {
    await harness.reset();
    await harness.addContacts([
      { first_name: 'Ann', email: 'ann@example.com', ...(phone && { phone }) },
      { first_name: 'Ben', email: 'ben@example.com' },
    ]);
    let isEdited = false;
    harness.front.set(async (request, pass) => {
      if (request.path.endsWith('/customers/getall')) return withoutContactIds(await pass());
      if (!request.path.endsWith('/customers/import') || !request.body.includes('1') || isEdited) return pass();
      isEdited = true;
      await harness.editContact(1, { first_name: 'Ann', email: 'ann@new.example.com' });
      await pass();
      return { status: 502, body: 'no' };
    });
    const run = await harness.runSync();
    expect([run.status, await harness.counts(run)]).toMatchObject(['done', { in: 2, created: 2 }]);
    const emails = (await harness.customers()).map(({ email }) => email);
    expect(emails.toSorted()).toEqual(['ann@new.example.com', 'ben@example.com']);
    expect(await harness.counts(await harness.runSync())).toMatchObject({ in: 2, unchanged: 2 });
  },
);

/** Answers like a service that does not say which contact a customer came from. */
function withoutContactIds({ status = 200, body }: Reply): Reply {
  return { status, body: String(body).replaceAll(/"contact_id"\s*:\s*\d+/g, '"contact_id":null') };
}

test('orders refused in words that Postgres cannot store, or that are cut within a character, are rejected with them', async () => {
  const words = new Map([
    ['"O-1"', 'no \u0000 such customer'],
    ['"O-2"', 'half of \ud83d an emoji'],
    ['"O-3"', `${'x'.repeat(998)}😀 and more`],
  ]);
  harness.front.set(async (request, pass) => {
    const said = [...words].find(([order]) => request.body.includes(order))?.[1];
    return request.path.endsWith(CREATE) && said ? { status: 422, body: { status: 'error', message: said } } : pass();
  });
  const run = await harness.load(ordersCsv(4));
  expect(await reasons(run)).toEqual([...Array(3).fill('rejected REFUSED_BY_SERVICE'), 'created']);
  const answers = (await harness.loaded(run)).slice(0, 3).map(({ facts }) => facts?.answer);
  expect(answers).toEqual(['no  such customer', 'half of \ufffd an emoji', `${'x'.repeat(998)}…`]);
});
