/** Services whose orders have names of their own for the customer and the label: nothing is guessed, and the settings can name them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OrdersHarness, openOrdersHarness } from '../support/harness/orders.ts';
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from '../support/http-server.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 100ms }';
const CSV = 'order_id,client_id,amount\nA-1,1,1\nA-2,2,2\n';

type Order = Readonly<Record<string, unknown>>;

/** Shows each order that it has or receives as `shown` does. */
async function serviceOf(
  shown: (order: Order) => Order,
): Promise<TestServer & { readonly orders: Order[]; readonly created: () => number }> {
  const orders: Order[] = [
    { id: 1, order_id: 'A-1', client_id: 1, amount: 1 },
    { id: 2, order_id: 'B-9', client_id: 2, amount: 9 },
  ];
  const answer = ({ path, body }: SeenRequest): Reply => {
    switch (path.replace('/api/v1', '')) {
      case '/customers/getall':
        return { body: [1, 2, 3].map((id) => ({ id, full_name: `Customer ${id}` })) };
      case '/orders/getall':
        return { body: orders.map(shown) };
      case '/orders/create':
        orders.push({ id: orders.length + 1, ...JSON.parse(body) });
        return { body: '' };
      default:
        return { status: 404 };
    }
  };
  return { ...(await startHttpServer(answer)), orders, created: () => orders.length - 2 };
}

const refused: readonly (readonly [string, (order: Order) => Order, RegExp])[] = [
  [
    'two members that could be the customer',
    ({ client_id, ...order }) => ({ ...order, client_id: null, customer_id: client_id, buyer_id: 77 }),
    /customer may be in customer_id or in buyer_id.*dialect\.members\.orders\.client_id/,
  ],
  [
    'two members that could be the label',
    ({ order_id, ...order }) => ({ ...order, reference: order_id, label: 'X' }),
    /label may be in label or in reference.*dialect\.members\.orders\.order_id/,
  ],
  [
    'no known member for the customer',
    ({ client_id, ...order }) => ({ ...order, who: client_id }),
    /as its customer: it has id, order_id, amount, who\. Set accounts\.test\.dialect\.members\.orders\.client_id/,
  ],
  [
    'a name in place of the id of the customer',
    ({ client_id, ...order }) => ({ ...order, customer: `Customer ${client_id}` }),
    /as its customer: it has id, order_id, amount, customer\./,
  ],
  [
    'a list of customers',
    ({ client_id, ...order }) => ({ ...order, client_id: [client_id, 3] }),
    /it has id, order_id, amount; its client_id is \[1,3\], whose first element is client_id\.0\. Set /,
  ],
  [
    'several customers in one of them, with a label of the load',
    ({ client_id, ...order }) => ({ ...order, client_id: order.order_id === 'A-1' ? [client_id, 3] : client_id }),
    /an order "A-1" whose customer Lockstep cannot read: its client_id is \[1,3\]\. .*or load the file without that order\. Nothing was written\./,
  ],
  [
    'labels that are objects',
    ({ order_id, ...order }) => ({ ...order, order_id: { type: 'title', title: [{ plain_text: order_id }] } }),
    /as its label: it has id, client_id, amount; its order_id is \{"type":"title","title":\[\{"plain_text":"A-1"\}\]\}\. Set /,
  ],
  [
    'labels that are objects, or texts',
    ({ order_id, ...order }) => ({ ...order, reference: order_id === 'A-1' ? { text: order_id } : order_id }),
    /as its label: it has id, client_id, amount, reference\. Set /,
  ],
  [
    'members with a spelling of their own, and no known one for the customer',
    ({ client_id, order_id, ...order }) => ({ ...order, OrderId: order_id, AccountId: client_id }),
    /as its customer: it has id, amount, OrderId, AccountId\. Set /,
  ],
];

describe.each(refused)('a service whose orders have %s', (_what, shown, message) => {
  test('is sent nothing, and the error names the setting', async () => {
    const service = await serviceOf(shown);
    const harness = await openOrdersHarness({ account: QUICK, serviceUrl: service.url });
    const run = await harness.load(CSV);
    expect([run.status, run.errorCode, service.created()]).toEqual(['failed', 'SERVICE_UNREADABLE', 0]);
    expect(run.error).toMatch(message);
    await harness.close();
    await service.close();
  });
});

test('a service that shows other ids of customers in orders gets one order, whose label it does not have yet', async () => {
  const service = await serviceOf(({ client_id, ...order }) => ({ ...order, client_id: `C-${client_id}` }));
  const harness = await openOrdersHarness({ account: QUICK, serviceUrl: service.url });
  const run = await harness.load(CSV);
  expect(await harness.counts(run)).toMatchObject({ created: 0, review: 2 });
  expect(service.orders.map(({ order_id }) => order_id)).toEqual(['A-1', 'B-9', 'A-2']);
  await harness.close();
  await service.close();
});

describe('a service whose members the settings name', () => {
  let service: Awaited<ReturnType<typeof serviceOf>>;
  let harness: OrdersHarness;
  beforeAll(async () => {
    service = await serviceOf(({ client_id, order_id, ...order }) => ({
      ...order,
      ...{ who: { key: client_id }, customer_id: 99, nr: order_id, order_id: 7 },
    }));
    const dialect = 'dialect: { members: { orders: { client_id: who.key, order_id: nr } } }';
    harness = await openOrdersHarness({ account: `${QUICK}, ${dialect}`, serviceUrl: service.url });
  });
  afterAll(async () => {
    await harness.close();
    await service.close();
  });

  test('gets each order once, however often the file is loaded', async () => {
    expect(await harness.counts(await harness.load(CSV))).toMatchObject({ created: 1, existing: 1 });
    expect(await harness.counts(await harness.load(CSV, { salt: 'again' }))).toMatchObject({ created: 0, existing: 2 });
    expect(service.orders.map(({ order_id }) => order_id)).toEqual(['A-1', 'B-9', 'A-2']);
  });
});

type Shown = Readonly<Record<string, unknown>>;
const LABELS: readonly [where: string, members: string, shown: (id: unknown, label: unknown) => Shown][] = [
  ['in reference', '{}', (id, label) => ({ order_id: id, reference: label })],
  ['where the settings say', '{ order_id: nr }', (id, label) => ({ order_id: id, nr: label })],
  ['in order_id too', '{}', (_, label) => ({ order_id: label })],
  ['in reference, the id in OrderId', '{}', (id, label) => ({ OrderId: id, reference: label })],
];

test.each(LABELS)(
  'orders whose id is in order_id, as the settings say, and whose label is %s, are created once',
  async (_, members, shown) => {
    const service = await serviceOf(({ id, order_id, ...order }) => ({ ...order, ...shown(id, order_id) }));
    const [name] = Object.keys(shown(1, 'A'));
    const dialect = `dialect: { idField: { orders: ${name} }, members: { orders: ${members} } }`;
    const harness = await openOrdersHarness({ account: `${QUICK}, ${dialect}`, serviceUrl: service.url });
    expect(await harness.counts(await harness.load(CSV))).toMatchObject({ created: 1, existing: 1 });
    const ids = service.orders.map(({ id, order_id }) => String(Object.values(shown(id, order_id))[0]));
    const again = await harness.load(CSV, { salt: 'again' });
    expect((await harness.loaded(again)).map(({ recordId }) => recordId)).toEqual([ids[0], ids[2]]);
    expect(service.orders.map(({ order_id }) => order_id)).toEqual(['A-1', 'B-9', 'A-2']);
    await harness.close();
    await service.close();
  },
);
