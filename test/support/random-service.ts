/**
 * A service in memory that behaves as it was drawn (drawn-service.ts). It is strict where a mistake would go unnoticed:
 * ids that come back must equal the ones it has shown, digit by digit, and a long number must come back as a number.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type Drawn, type ListedKind, randomFrom } from './drawn-service.ts';
import { FORMS } from './framework-forms.ts';
import { bodyAs } from './habit-forms.ts';
import { checkBody, equalTo, refuseEqual } from './habit-rules.ts';
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from './http-server.ts';
import { CLOCK_OFF_MS, cut, faultsOf, LATE_MS, limitedBy, otherPrefix, reset, webPage } from './random-faults.ts';
import { type Listed, listed } from './random-lists.ts';
import {
  changed,
  found,
  incoming,
  type Kept,
  LONG,
  newId,
  Refusal,
  readBody,
  shown,
  shownFields,
  stored,
  wireId,
} from './random-records.ts';

export interface RandomService extends TestServer {
  readonly records: Readonly<Record<ListedKind, Kept[]>>;
  add(kind: ListedKind, fields: Record<string, unknown>, more?: Pick<Kept, 'isDeleted'>): Kept;
  /** Requests that wrote, or tried to. */
  writes(): number;
}

const KINDS_BY_PATH: Readonly<Record<string, ListedKind>> = {
  contacts: 'contacts',
  customers: 'customers',
  orders: 'orders',
  tasks: 'tasks',
};

/** `onCall`: for each request, before it is answered. */
export async function startRandomService(drawn: Drawn, onCall = () => {}): Promise<RandomService> {
  const records: Record<ListedKind, Kept[]> = { contacts: [], customers: [], orders: [], tasks: [] };
  const random = randomFrom(drawn.seed + 1_000_003);
  let writes = 0;
  let made = 0;
  let jobs = 0;

  const make = (kind: ListedKind, fields: Record<string, unknown>, more: Pick<Kept, 'isDeleted'> = {}): Kept => {
    const madeAtMs = Date.now();
    return { id: newId(drawn, ++made), fields: stored(drawn, kind, fields), madeAtMs, changedAtMs: madeAtMs, ...more };
  };
  const add: RandomService['add'] = (kind, ...more) => {
    const kept = make(kind, ...more);
    records[kind].push(kept);
    return kept;
  };

  function answer(request: SeenRequest): unknown {
    const [, prefix = '', below = ''] = /^(\/(?:api\/)?v1)\/(.*)$/.exec(request.path) ?? [];
    if (drawn.prefix !== 'both' && prefix !== drawn.prefix) throw new Refusal(404, 'no such thing');
    const [room = '', ...rest] = below.split('/');
    const kind = KINDS_BY_PATH[room];
    const what = rest.join('/');
    if (kind === undefined) throw new Refusal(404, 'no such thing');
    const { habit } = drawn;
    if (what === 'getall') {
      const isCurrent = habit === 'has a replica that lags' && random.chance(0.5);
      return { kind, ...listed(drawn, kind, records[kind], request, isCurrent) };
    }
    if (what === 'get' || what === 'getTaskById') {
      const id = request.query.get('id') ?? request.query.get('contact_id') ?? '';
      if (habit === 'has no single reads') throw new Refusal(404, 'no such operation');
      const isCurrent = habit === 'has a replica that lags';
      const [first] = records[kind];
      const isFirst = habit === 'answers the first record for every id' && first !== undefined;
      const one = isFirst ? first : records[kind].find((record) => record.id === id);
      if (one === undefined && habit === 'answers null for a missing record') return { nothing: true };
      if (one === undefined || shownFields(one, isCurrent) === undefined)
        throw new Refusal(404, `there is no record ${id}`);
      return { record: shown(drawn, kind, one, { isCurrent }) };
    }
    writes++;
    const sent = readBody(request.body);
    if (what === 'create' || what === 'import') checkBody(drawn, below, sent);
    if (what === 'create') return written(kind, checked(kind, changed(drawn, sent)));
    if (kind === 'customers' && what === 'import') return importContact(sent);
    if (what === 'update') {
      const kept = found(records[kind], incoming(drawn, sent.id));
      checkBody(drawn, below, sent, kept);
      const { id: _, tenant_id: __, ...fields } = sent;
      const rest = habit === 'empties what an update leaves out' ? emptied(kept.fields) : kept.fields;
      const written = checked(kind, { ...rest, ...stored(drawn, kind, changed(drawn, fields)) });
      if (drawn.oddity === 'ignores updates') return { nothing: true };
      kept.lagging = { fields: kept.fields, untilMs: Date.now() + drawn.lagMs };
      kept.fields = written;
      kept.changedAtMs = Date.now();
      return { nothing: true };
    }
    throw new Refusal(404, 'no such operation');
  }

  /** An order needs a customer that exists. */
  function checked(kind: ListedKind, { client_id, ...fields }: Record<string, unknown>): Record<string, unknown> {
    if (kind !== 'orders') return fields;
    return { ...fields, client_id: found(records.customers, incoming(drawn, client_id)).id };
  }

  function importContact(sent: Record<string, unknown>): unknown {
    if (drawn.import !== 'works') throw new Refusal(drawn.import, 'importing is not supported');
    const { id, fields } = found(records.contacts, incoming(drawn, sent.contact_id));
    const { first_name, last_name, email, phone, organization } = fields;
    const full_name = [first_name, last_name].filter(Boolean).join(' ');
    const customer = { full_name, email, phone_number: phone, organization };
    return written('customers', { ...customer, ...(drawn.saysContact && { contact_id: id }) });
  }

  function written(kind: ListedKind, fields: Record<string, unknown>): unknown {
    const equal = equalTo(drawn, records[kind], fields);
    if (equal !== undefined) refuseEqual(drawn, equal);
    const kept = equal ?? make(kind, fields);
    const isLate = drawn.habit === 'creates after the answer';
    if (isLate) setTimeout(() => records[kind].push(kept), LATE_MS);
    else if (equal === undefined) records[kind].push(kept);
    if (equal === undefined) kept.lagging = { fields: undefined, untilMs: Date.now() + drawn.lagMs };
    // Like an id of a record, it may be that of another one.
    if (drawn.habit === 'answers creates with a job') return { record: { id: wireId(drawn, newId(drawn, ++jobs)) } };
    const customer = records.customers.find(({ id }) => id === fields.client_id);
    if (drawn.habit === 'answers creates with the customer' && customer !== undefined)
      return { record: shown(drawn, 'customers', customer) };
    if (drawn.createAnswers === 'nothing') return { blank: true };
    if (drawn.createAnswers === 'envelope') return { nothing: true };
    const record = shown(drawn, kind, kept);
    return {
      record: drawn.createAnswers === 'record' ? record : Object.fromEntries(Object.entries(record).slice(0, 1)),
    };
  }

  let inSecond = 0;
  let lastSecond = 0;
  const callsOf = new WeakMap<object, number>();

  const server = await startHttpServer(async (received, response) => {
    onCall();
    const { socket } = response;
    const onThisOne = (socket && callsOf.get(socket)) ?? 0;
    if (socket) callsOf.set(socket, onThisOne + 1);
    if (onThisOne + 1 === drawn.callsPerConnection) response.shouldKeepAlive = false;
    const second = Math.floor(Date.now() / 1_000);
    inSecond = second === lastSecond ? inSecond + 1 : 1;
    lastSecond = second;
    if (inSecond > drawn.mostPerSecond) return send(drawn, limitedBy(drawn), response);
    const request = { ...received, path: received.path.replace(/\/$/, '') };
    const isRead = /getall|getTaskById|\/get$/.test(request.path);
    const fault = random.chance(drawn.faults) ? random.pick(faultsOf(drawn, isRead)) : 'none';
    if (fault === 'reset before') return reset(response);
    if (fault === '503 before') return { status: 503 };
    const { oddity } = drawn;
    if (fault === 'page before') return webPage(response);
    if (
      drawn.habit === 'redirects to the other prefix' &&
      drawn.prefix !== 'both' &&
      !request.path.startsWith(`${drawn.prefix}/`)
    )
      return otherPrefix(drawn, request.path);
    if (oddity === 'redirects to paths with a slash' && received.path === request.path) return redirect(request);
    if (oddity === 'answers slowly') await delay(random.int(60));
    if (fault === 'late') setTimeout(() => replyTo(drawn, request, answer), LATE_MS);
    if (fault === 'late') return reset(response);
    const reply = replyTo(drawn, request, answer);
    if (fault === 'reset after') return reset(response);
    if (fault === 'cut after') return cut(response);
    if (fault === 'page after') return webPage(response);
    if (fault === '502 after') return { status: 502, body: '<html>Bad gateway</html>' };
    return send(drawn, reply, response);
  });
  return { ...server, records, add, writes: () => writes };
}

function replyTo(drawn: Drawn, request: SeenRequest, answer: (request: SeenRequest) => unknown): Reply {
  try {
    const said = answer(request) as Partial<Listed> & { kind: ListedKind; record?: unknown; blank?: boolean };
    if (said.blank) return { body: '' };
    const { list, beside, headers = {} } = said;
    if (list?.length === 0 && drawn.habit === 'answers 204 for an empty list')
      return { status: 204, headers, body: '' };
    if (list?.length === 0 && drawn.habit === 'answers 404 for an empty list') throw new Refusal(404, 'nothing found');
    if (list !== undefined && drawn.framework !== 'contract')
      return { headers, body: FORMS[drawn.framework].list(said.kind, list) };
    if (list !== undefined) return { headers, body: framed(drawn, drawn.listPath, listContent(drawn, list), beside) };
    const isAccepted = drawn.oddity === 'accepts writes with 202' && said.record === undefined;
    return { status: isAccepted ? 202 : 200, body: framed(drawn, drawn.listPath.slice(0, 1), said.record ?? null) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusal(drawn, error);
  }
}

function emptied(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, name === 'client_id' ? value : null]));
}

const ABSENT = Symbol('absent');

function listContent({ emptyAs, listPath, oddity }: Drawn, list: readonly unknown[]): unknown {
  if (list.length > 2 && oddity === 'has nulls in lists') return list.toSpliced(1, 0, null);
  if (list.length > 0 || emptyAs === '[]') return list;
  return emptyAs === 'absent' && listPath.length > 0 ? ABSENT : null;
}

function framed(
  { words }: Drawn,
  path: readonly string[],
  content: unknown,
  beside: Readonly<Record<string, unknown>> = {},
): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return content;
  const inner = rest.reduceRight<unknown>((within, name) => (within === ABSENT ? {} : { [name]: within }), content);
  return { [words.status]: words.good, ...beside, ...(inner !== ABSENT && { [first]: inner }), [words.message]: '' };
}

function refusal({ errors, words }: Drawn, { httpStatus, message, asEnvelope }: Refusal): Reply {
  const body = { [words.status]: words.bad, content: null, [words.message]: message };
  if (asEnvelope || errors === 'envelope200') return { body };
  if (errors === 'html') {
    const page = `<!doctype html><html><body><h1>${httpStatus}</h1></body></html>`;
    return { status: httpStatus, headers: { 'content-type': 'text/html' }, body: page };
  }
  return { status: httpStatus, body: errors === 'empty' ? '' : body };
}

function redirect({ path }: SeenRequest): Reply {
  return { status: 301, headers: { location: `${path}/` } };
}

function send(drawn: Drawn, { status = 200, headers = {}, body }: Reply, response: ServerResponse): undefined {
  const { encoding, isChunked, habit } = drawn;
  const json = typeof body === 'string' ? body : JSON.stringify(body).replace(new RegExp(`"${LONG}(\\d+)"`, 'g'), '$1');
  const text = bodyAs(drawn, json);
  const bytes = text === '' ? Buffer.alloc(0) : encoded(encoding, Buffer.from(text));
  response.writeHead(status, {
    'content-type': habit === 'calls JSON text' ? 'text/html; charset=UTF-8' : 'application/json',
    ...(habit === 'has a wrong clock' && { date: new Date(Date.now() + CLOCK_OFF_MS).toUTCString() }),
    ...headers,
    ...(encoding !== 'identity' && text !== '' && { 'content-encoding': encoding }),
    ...(!isChunked && { 'content-length': String(bytes.length) }),
  });
  for (let at = 0; isChunked && at < bytes.length; at += 500) response.write(bytes.subarray(at, at + 500));
  response.end(isChunked ? undefined : bytes);
  return undefined;
}

function encoded(encoding: Drawn['encoding'], bytes: Buffer): Buffer {
  switch (encoding) {
    case 'identity':
      return bytes;
    case 'gzip':
      return gzipSync(bytes);
    case 'deflate':
      return deflateSync(bytes);
    case 'br':
      return brotliCompressSync(bytes);
    default:
      return encoding satisfies never;
  }
}
