/** How an unknown service answers: every choice that the contract leaves open, made at random from a seed. */
import { FRAMEWORKS, type Framework } from './framework-forms.ts';
import type { Habit } from './habits.ts';
import { PRODUCTS } from './product-forms.ts';

export interface Random {
  /** From 0 to below `below`. */
  int(below: number): number;
  pick<T>(from: readonly T[]): T;
  chance(share: number): boolean;
}

/** Mulberry32: small, and the same on every machine. */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return { int, pick: (from) => from[int(from.length)] as (typeof from)[number], chance: (share) => next() < share };
}

export type ListedKind = 'contacts' | 'customers' | 'orders' | 'tasks';

export type IdForm = 'number' | 'digits' | 'uuid' | 'long number' | 'long digits' | 'address';
export type EmptyAs = '[]' | 'null' | 'absent';
export type PastEnd = 'empty' | 404 | 400 | 'failing 200' | 'the last' | 'the first';
export type DateForm = 'iso' | 'with a space' | 'seconds' | 'milliseconds' | 'none';
export type Encoding = 'identity' | 'gzip' | 'deflate' | 'br';

/** What pages of one list are; `none`: page numbers and sizes are ignored. */
export type Paging =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'pages';
      readonly first: 0 | 1;
      /** Maximum rows of a page, and its size if the request names none. */
      readonly cap: number;
      readonly isSizeHonoured: boolean;
      readonly pastEnd: PastEnd;
      /** What page 0 is, if pages are counted from 1. */
      readonly zero: 'refused' | 'the first';
    }
  | {
      /** Page numbers are ignored: the list continues by this query parameter: from 0, or after the record of this id. */
      readonly kind: 'cursor' | 'offset' | 'starting_after';
      readonly cap: number;
    };

/** What a few services do. With those of `REFUSABLE`, a run may rightly stop, or leave rows for a person. */
export const ODDITIES = [
  'ignores updates',
  'capitalizes labels',
  'renames states',
  'rounds amounts',
  'redirects to paths with a slash',
  'counts a page as the total',
  'counts one record too few',
  'has nulls in lists',
  'masks e-mails',
  'accepts writes with 202',
  'answers slowly',
] as const;
/** Its lists of customers and orders have no more than some records, and totals count only these. */
export const CUTS = ['lists only the oldest', 'lists only the newest'] as const;
export type Oddity = (typeof ODDITIES)[number] | (typeof CUTS)[number];

export const REFUSABLE: ReadonlySet<Oddity | 'none'> = new Set([
  'ignores updates',
  'capitalizes labels',
  'renames states',
  'rounds amounts',
  'has nulls in lists',
  'masks e-mails',
  ...CUTS,
]);

export interface Drawn {
  readonly seed: number;
  readonly idName: 'id' | 'Id' | 'ID' | 'kind_id' | 'KindId' | 'uid' | 'uuid' | '_id';
  readonly idForm: IdForm;
  /** The member of an order that names its customer. */
  readonly customerName: 'client_id' | 'customer_id' | 'ClientId' | 'CustomerId' | 'client.id';
  /** How records and lists look; `contract`: as the other choices say. */
  readonly framework: 'contract' | Framework;
  /** Where a list is: the names that lead to it. */
  readonly listPath: readonly string[];
  readonly words: { readonly status: string; readonly good: unknown; readonly bad: unknown; readonly message: string };
  readonly emptyAs: EmptyAs;
  readonly paging: Readonly<Record<ListedKind, Paging>>;
  /** Before each so many records, pages have a row that is counted and not shown; 0: never. */
  readonly hiddenEvery: number;
  /** What answers say beside a list; cursors are always given. */
  readonly beside: 'nothing' | 'total' | 'links' | 'headers';
  readonly order: 'oldest' | 'newest' | 'by name' | 'scattered';
  readonly encoding: Encoding;
  readonly isChunked: boolean;
  readonly booleans: 'true' | '1' | '"1"';
  readonly amounts: 'number' | 'text';
  readonly createAnswers: 'nothing' | 'envelope' | 'id' | 'record';
  readonly errors: 'status' | 'envelope200' | 'html' | 'empty';
  readonly import: 'works' | 400 | 404 | 405;
  readonly saysContact: boolean;
  /** What it makes of a customer's phone, e-mail and name before it stores them. */
  readonly phones: 'as sent' | 'digits' | 'spaced';
  readonly emails: 'as sent' | 'lower case';
  readonly names: 'as sent' | 'single spaces';
  /** How a field without a value is shown; `as stored`: as it was sent, or not at all. */
  readonly blanks: 'as stored' | 'null' | '""' | 'absent';
  /** When each record was made, as shown. */
  readonly dates: DateForm;
  /** A write is shown after so many milliseconds; less than the settle time. */
  readonly lagMs: number;
  /** Calls that it takes in a second; it refuses more with 429. The client is not told the limit. */
  readonly mostPerSecond: number;
  readonly saysRetryAfter: boolean;
  /** Calls that a connection takes before it is closed; 0: any number. */
  readonly callsPerConnection: number;
  readonly prefix: 'both' | '/api/v1' | '/v1';
  readonly oddity: Oddity | 'none';
  readonly habit: Habit | 'none';
  /** Records in a list of customers or orders, at most. */
  readonly mostListed: number;
  /** Share of the calls that end in a fault. */
  readonly faults: number;
  /** Number of records at the start; the first contacts and the first customers are the same people. */
  readonly sizes: Readonly<Record<ListedKind, number>>;
}

/** A service with our default behaviour, except for the given choices. */
export function plainService(otherwise: Partial<Drawn> = {}): Drawn {
  const none: Paging = { kind: 'none' };
  return {
    seed: 1,
    idName: 'id',
    idForm: 'number',
    customerName: 'client_id',
    framework: 'contract',
    listPath: ['content'],
    words: WORDS[0],
    emptyAs: '[]',
    paging: { contacts: none, customers: none, orders: none, tasks: none },
    hiddenEvery: 0,
    beside: 'nothing',
    order: 'oldest',
    encoding: 'identity',
    isChunked: false,
    booleans: 'true',
    amounts: 'number',
    createAnswers: 'envelope',
    errors: 'status',
    import: 'works',
    saysContact: false,
    phones: 'as sent',
    emails: 'as sent',
    names: 'as sent',
    blanks: 'as stored',
    dates: 'none',
    lagMs: 0,
    mostPerSecond: Number.POSITIVE_INFINITY,
    saysRetryAfter: false,
    callsPerConnection: 0,
    prefix: 'both',
    oddity: 'none',
    habit: 'none',
    mostListed: Number.POSITIVE_INFINITY,
    faults: 0,
    sizes: { contacts: 17, customers: 9, orders: 9, tasks: 8 },
    ...otherwise,
  };
}

const WORDS = [
  { status: 'status', good: 'success', bad: 'error', message: 'message' },
  { status: 'status', good: 'ok', bad: 'fail', message: 'msg' },
  { status: 'success', good: true, bad: false, message: 'message' },
  { status: 'Status', good: 'Success', bad: 'Error', message: 'Message' },
  { status: 'code', good: 200, bad: 400, message: 'info' },
  { status: 'ok', good: 1, bad: 0, message: 'text' },
] as const;

const LIST_PATHS = [
  [],
  ['content'],
  ['data'],
  ['content', 'items'],
  ['result', 'page', 'records'],
  ['payload', 'entries'],
] as const;

/** Drawn apart, so that the other choices of a seed stay the same. */
function drawContinuing(seed: number): Pick<Drawn, 'hiddenEvery' | 'beside'> {
  const { pick } = randomFrom(seed + 2_000_003);
  return { hiddenEvery: pick([0, 0, 3, 7]), beside: pick(['nothing', 'total', 'links', 'headers']) };
}

/** Drawn apart too. */
function drawOddity(seed: number): Pick<Drawn, 'oddity' | 'mostListed'> {
  const cut = randomFrom(seed + 7_000_003);
  if (cut.chance(0.1)) return { oddity: cut.pick(CUTS), mostListed: 4 + cut.int(30) };
  const { pick, chance } = randomFrom(seed + 4_000_037);
  return { oddity: chance(0.5) ? 'none' : pick(ODDITIES), mostListed: Number.POSITIVE_INFINITY };
}

/** Some services have cursors or the like instead of page numbers. Most are found only if answers say that more follow. */
function drawPaging(seed: number, pages: Drawn['paging']): Drawn['paging'] {
  const { pick, chance, int } = randomFrom(seed + 3_000_017);
  if (chance(0.6)) return pages;
  const kind =
    drawContinuing(seed).beside === 'nothing' ? 'cursor' : pick(['cursor', 'offset', 'starting_after'] as const);
  const other: Paging = { kind, cap: 5 + int(12) };
  return { contacts: other, customers: other, orders: other, tasks: other };
}

export function drawService(seed: number): Drawn {
  const isByName = randomFrom(seed + 6_000_011).chance(0.2); // drawn apart too
  const drawn = { ...drawContractService(seed), ...(isByName && { order: 'by name' as const }) };
  const product = randomFrom(seed + 12_000_053); // and so are these
  if (product.chance(0.15)) return frameworkService(product.pick(PRODUCTS), drawn);
  if (product.chance(0.05)) return { ...drawn, idForm: 'address' };
  const random = randomFrom(seed + 5);
  return random.chance(0.75) ? drawn : frameworkService(random.pick(FRAMEWORKS), drawn);
}

const WITH_TEXT_IDS: ReadonlySet<Framework> = new Set([
  ...(['rails', 'hal', 'airtable', 'sap', 'graph', 'bitrix', 'zoho'] as const),
]);

/** The service as a framework would write it; lists come whole, and ids are text or small numbers in links. */
export function frameworkService(framework: Framework, drawn: Drawn): Drawn {
  const isText = WITH_TEXT_IDS.has(framework);
  return {
    ...drawn,
    framework,
    idName: 'id',
    idForm: framework === 'odoo' ? 'number' : isText && drawn.idForm !== 'uuid' ? 'digits' : drawn.idForm,
    customerName: 'client_id',
    paging: plainService().paging,
  };
}

function drawContractService(seed: number): Drawn {
  const random = randomFrom(seed);
  const { pick, chance, int } = random;
  const paging = (mayBeWhole: boolean, mayBeSized: boolean): Paging =>
    mayBeWhole && chance(0.4)
      ? { kind: 'none' }
      : {
          kind: 'pages',
          first: pick([0, 1]),
          cap: 5 + int(12),
          isSizeHonoured: mayBeSized && chance(0.6),
          pastEnd: pick(['empty', 'empty', 404, 400, 'failing 200']),
          zero: pick(['refused', 'the first']),
        };
  return {
    seed,
    idName: pick(['id', 'id', 'Id', 'ID', 'kind_id', 'KindId', 'uid', 'uuid', '_id']),
    idForm: pick(['number', 'digits', 'uuid', 'long number', 'long digits']),
    customerName: pick(['client_id', 'client_id', 'customer_id', 'ClientId', 'CustomerId', 'client.id']),
    framework: 'contract',
    listPath: pick(LIST_PATHS),
    words: pick(WORDS),
    emptyAs: pick(['[]', 'null', 'absent']),
    paging: drawPaging(seed, {
      contacts: paging(true, true),
      customers: paging(true, true),
      orders: paging(true, true),
      tasks: paging(true, false),
    }),
    ...drawContinuing(seed),
    ...drawOddity(seed),
    habit: 'none',
    order: pick(['oldest', 'newest', 'scattered']),
    encoding: pick(['identity', 'identity', 'gzip', 'deflate', 'br']),
    isChunked: chance(0.5),
    booleans: pick(['true', '1', '"1"']),
    amounts: pick(['number', 'text']),
    createAnswers: pick(['nothing', 'envelope', 'id', 'record']),
    errors: pick(['status', 'status', 'envelope200', 'html', 'empty']),
    import: pick(['works', 'works', 400, 404, 405]),
    saysContact: chance(0.5),
    phones: pick(['as sent', 'digits', 'spaced']),
    emails: pick(['as sent', 'lower case']),
    names: pick(['as sent', 'single spaces']),
    blanks: pick(['as stored', 'null', '""', 'absent']),
    dates: pick(['iso', 'with a space', 'seconds', 'milliseconds', 'none']),
    lagMs: pick([0, 0, 100]),
    mostPerSecond: pick([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 40]),
    saysRetryAfter: chance(0.5),
    callsPerConnection: pick([0, 0, 1, 5]),
    prefix: pick(['both', 'both', '/api/v1', '/v1']),
    faults: pick([0, 0, 0.05]),
    sizes: {
      contacts: pick([0, 1, 5, 17, 31, 44]),
      customers: pick([0, 0, 3, 14, 29]),
      orders: pick([0, 0, 2, 9, 27]),
      tasks: pick([0, 1, 8, 23, 37]),
    },
  };
}
