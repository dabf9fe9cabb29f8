/**
 * A service in memory that behaves as it was drawn (drawn-service.ts). It is strict where a mistake would go unnoticed:
 * ids that come back must equal the ones it has shown, digit by digit, and a long number must come back as a number.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type Drawn, type ListedKind, type Paging, randomFrom } from './drawn-service.ts';
import { FORMS } from './framework-forms.ts';
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from './http-server.ts';
import { cut, FAULTS, LATE_MS, READ_FAULTS, reset } from './random-faults.ts';
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
} from './random-records.ts';

export interface RandomService extends TestServer {
  readonly records: Readonly<Record<ListedKind, Kept[]>>;
  add(kind: ListedKind, fields: Record<string, unknown>): Kept;
  /** Requests that wrote, or tried to. */
  writes(): number;
}

const KINDS_BY_PATH: Readonly<Record<string, ListedKind>> = {
  contacts: 'contacts',
  customers: 'customers',
  orders: 'orders',
  tasks: 'tasks',
};

export async function startRandomService(drawn: Drawn): Promise<RandomService> {
  const records: Record<ListedKind, Kept[]> = { contacts: [], customers: [], orders: [], tasks: [] };
  const random = randomFrom(drawn.seed + 1_000_003);
  let writes = 0;
  let made = 0;

  const add: RandomService['add'] = (kind, fields) => {
    const kept = { id: newId(drawn, ++made), fields: stored(drawn, kind, fields), madeAtMs: Date.now() };
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
    if (what === 'getall') return { kind, ...listed(drawn, kind, records[kind], request) };
    if (what === 'get' || what === 'getTaskById') {
      const id = request.query.get('id') ?? request.query.get('contact_id') ?? '';
      const one = found(records[kind], id);
      if (shownFields(one) === undefined) throw new Refusal(404, `there is no record ${id}`);
      return { record: shown(drawn, kind, one) };
    }
    writes++;
    const sent = readBody(request.body);
    if (what === 'create') return written(kind, checked(kind, changed(drawn, sent)));
    if (kind === 'customers' && what === 'import') return importContact(sent);
    if (what === 'update') {
      const kept = found(records[kind], incoming(drawn, sent.id));
      const { id: _, ...fields } = sent;
      const written = checked(kind, { ...kept.fields, ...changed(drawn, fields) });
      if (drawn.oddity === 'ignores updates') return { nothing: true };
      kept.lagging = { fields: kept.fields, untilMs: Date.now() + drawn.lagMs };
      kept.fields = stored(drawn, kind, written);
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
    const kept = add(kind, fields);
    kept.lagging = { fields: undefined, untilMs: Date.now() + drawn.lagMs };
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
    const { socket } = response;
    const onThisOne = (socket && callsOf.get(socket)) ?? 0;
    if (socket) callsOf.set(socket, onThisOne + 1);
    if (onThisOne + 1 === drawn.callsPerConnection) response.shouldKeepAlive = false;
    const second = Math.floor(Date.now() / 1_000);
    inSecond = second === lastSecond ? inSecond + 1 : 1;
    lastSecond = second;
    if (inSecond > drawn.mostPerSecond)
      return { status: 429, ...(drawn.saysRetryAfter && { headers: { 'retry-after': '1' } }) };
    const request = { ...received, path: received.path.replace(/\/$/, '') };
    const isRead = /getall|getTaskById|\/get$/.test(request.path);
    const fault = random.chance(drawn.faults) ? random.pick(isRead ? READ_FAULTS : FAULTS) : 'none';
    if (fault === 'reset before') return reset(response);
    if (fault === '503 before') return { status: 503 };
    const { oddity } = drawn;
    if (oddity === 'redirects to paths with a slash' && received.path === request.path) return redirect(request);
    if (oddity === 'answers slowly') await delay(random.int(60));
    if (fault === 'late') setTimeout(() => replyTo(drawn, request, answer), LATE_MS);
    if (fault === 'late') return reset(response);
    const reply = replyTo(drawn, request, answer);
    if (fault === 'reset after') return reset(response);
    if (fault === 'cut after') return cut(response);
    if (fault === '502 after') return { status: 502, body: '<html>Bad gateway</html>' };
    return send(drawn, reply, response);
  });
  return { ...server, records, add, writes: () => writes };
}

interface Listed {
  readonly list: readonly unknown[];
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const HIDDEN = Symbol('a row that is counted and not shown');

function listed(drawn: Drawn, kind: ListedKind, kept: readonly Kept[], { path, query }: SeenRequest): Listed {
  const ids = new Map<unknown, string>();
  const visible = kept.filter((record) => shownFields(record) !== undefined);
  const records = ordered(drawn, cutOff(drawn, kind, visible)).map((record) => {
    const row = shown(drawn, kind, record, true);
    ids.set(row, record.id);
    return row;
  });
  const { hiddenEvery } = drawn;
  const all = records.flatMap((record, n) => (hiddenEvery > 0 && n % hiddenEvery === 1 ? [HIDDEN, record] : [record]));
  const paging = drawn.paging[kind];
  const withoutHidden = (rows: readonly unknown[]) => rows.filter((row) => row !== HIDDEN);
  const count = drawn.oddity === 'counts one record too few' ? Math.max(0, records.length - 1) : records.length;
  const total = drawn.beside === 'nothing' ? {} : { totalCount: count };
  if (paging.kind === 'none') return { list: records, beside: total };
  if (paging.kind === 'pages') {
    const page = withoutHidden(pageOf(all, paging, query));
    const ofPage = drawn.oddity === 'counts a page as the total' && drawn.beside !== 'nothing';
    return { list: page, beside: ofPage ? { totalCount: page.length } : total };
  }
  const after = query.get('starting_after');
  const from =
    after === null ? Number(query.get(paging.kind) ?? 0) : 1 + all.findIndex((row) => ids.get(row) === after);
  const list = withoutHidden(all.slice(from, from + paging.cap));
  const end = from + paging.cap;
  const last = list.at(-1);
  if (end >= all.length || last === undefined) return { list, beside: total };
  const next = paging.kind === 'starting_after' ? (ids.get(last) ?? '') : String(end);
  const link = `http://elsewhere.invalid${path}?${paging.kind}=${next}`;
  if (drawn.beside === 'headers' || drawn.listPath.length === 0)
    return { list, headers: { link: `<${link}>; rel="next"`, 'x-total-count': String(records.length) } };
  if (drawn.beside === 'links') return { list, beside: { ...total, _links: { next: { href: link } } } };
  if (paging.kind === 'starting_after') return { list, beside: { ...total, has_more: true } };
  return { list, beside: { ...total, ...(paging.kind === 'cursor' && { next_cursor: next }) } };
}

/** A list of contacts or tasks that is cut off looks like a whole one, for nothing was written to it. */
function cutOff({ oddity, mostListed }: Drawn, kind: ListedKind, visible: readonly Kept[]): readonly Kept[] {
  if (kind !== 'customers' && kind !== 'orders') return visible;
  return oddity === 'lists only the newest' ? visible.slice(-mostListed) : visible.slice(0, mostListed);
}

function pageOf(
  all: readonly unknown[],
  paging: Extract<Paging, { kind: 'pages' }>,
  query: URLSearchParams,
): readonly unknown[] {
  const { first, cap, isSizeHonoured, pastEnd, zero } = paging;
  const asked = Number(query.get('rows_per_page') ?? cap);
  const size = isSizeHonoured ? Math.min(asked, cap) : cap;
  const number = Number(query.get('page') ?? first);
  if (number < first && zero === 'refused') throw new Refusal(400, 'pages begin at 1', pastEnd === 'failing 200');
  const page = Math.max(0, number - first);
  const rows = all.slice(page * size, (page + 1) * size);
  if (rows.length > 0 || page === 0 || pastEnd === 'empty') return rows;
  if (pastEnd === 'failing 200') throw new Refusal(400, 'there is no such page', true);
  throw new Refusal(pastEnd, 'there is no such page');
}

function nameOf({ fields: { full_name, last_name, order_id, taskName } }: Kept): string {
  return String(full_name ?? last_name ?? order_id ?? taskName);
}

function ordered({ order }: Drawn, kept: readonly Kept[]): readonly Kept[] {
  if (order === 'oldest') return kept;
  if (order === 'newest') return kept.toReversed();
  if (order === 'by name') return kept.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const mixed = (id: string) => [...id].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), 7);
  return kept.toSorted((a, b) => mixed(a.id) - mixed(b.id) || (a.id < b.id ? -1 : 1));
}

function replyTo(drawn: Drawn, request: SeenRequest, answer: (request: SeenRequest) => unknown): Reply {
  try {
    const said = answer(request) as Partial<Listed> & { kind: ListedKind; record?: unknown; blank?: boolean };
    if (said.blank) return { body: '' };
    const { list, beside, headers = {} } = said;
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

function send(
  { encoding, isChunked }: Drawn,
  { status = 200, headers = {}, body }: Reply,
  response: ServerResponse,
): undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body).replace(new RegExp(`"${LONG}(\\d+)"`, 'g'), '$1');
  const bytes = text === '' ? Buffer.alloc(0) : encoded(encoding, Buffer.from(text));
  response.writeHead(status, {
    'content-type': 'application/json',
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
