/**
 * Sample contacts with the irregularities of a real workspace: shared mailboxes, missing and unusual e-mails and
 * phones, names in many scripts. All are invented: addresses end in reserved domains, and the phone numbers are not in
 * use.
 */
import { pick } from '../random.ts';
import { type Culture, cultures } from './cultures.ts';

export type SampleContact = Record<string, string | boolean | null>;

const SYLLABLES = [
  ['Vel', 'Tin', 'Oku', 'Bras', 'Quil', 'Nor', 'Fen', 'Lum', 'Kar', 'Zel', 'Ama', 'Dru'],
  ['mora', 'drasse', 'lane', 'wick', 'vara', 'thorn', 'bello', 'dora', 'quist', 'nesse', 'tavi', 'rune'],
  ['Bakery', 'Logistics', 'Optics', 'Joinery', 'Instruments', 'Gardens', 'Textiles', 'Studio', 'Foods', 'Energy'],
] as const;
const INDUSTRIES = ['Retail', 'Manufacturing', 'Health', 'Education', 'Hospitality', 'Software', 'Construction'];
const SIZES = ['1-10', '11-50', '51-200', '201-500', '501-1000'];
const SOURCES = ['Website', 'Referral', 'Trade fair', 'Cold call', 'Newsletter'];
const STATUSES = ['New', 'Contacted', 'Qualified', 'Unqualified'];
const POSITIONS = ['Owner', 'Buyer', 'Office manager', 'Head of sales', 'Engineer', 'Assistant'];
const REVENUES = ['< 100k', '100k - 1M', '1M - 10M', '> 10M'];

/** `count` contacts; the same random numbers give the same contacts. */
export function* sampleContacts(count: number, random: () => number): Generator<SampleContact> {
  let organization = organizationOf(random);
  let household: Household | undefined;
  for (let index = 0; index < count; index++) {
    const culture = household?.culture ?? pick(random, cultures);
    if (random() < 0.2) organization = organizationOf(random);
    if (household === undefined && random() < 0.02) household = householdOf(random, culture, index);
    const person = {
      first: pick(random, culture.given),
      last: household?.name ?? pick(random, culture.family),
      culture,
    };
    const employer = household === undefined && random() < 0.7 ? organization : undefined;
    const email = household?.mailbox ?? emailOf(random, person, index, employer);
    yield { ...personOf(random, person, employer), ...email, ...phoneOf(random, culture, employer) };
    if (household !== undefined) {
      household.left -= 1;
      if (household.left === 0) household = undefined;
    }
  }
}

interface Organization {
  readonly name: string;
  readonly domain: string;
  readonly phone: string;
}

/** Neighbours in the list who share a family name and one mailbox. */
interface Household {
  readonly name: string;
  readonly culture: Culture;
  readonly mailbox: { readonly email: string };
  left: number;
}

interface Person {
  readonly first: string;
  readonly last: string;
  readonly culture: Culture;
}

function organizationOf(random: () => number): Organization {
  const [start, end, trade] = SYLLABLES.map((choices) => pick<string>(random, choices));
  const name = `${start}${end} ${trade}`;
  return { name, domain: `${start}${end}-${trade}.example`.toLowerCase(), phone: digits(random, '+1 202 555 01##') };
}

function householdOf(random: () => number, culture: Culture, index: number): Household {
  const name = pick(random, culture.family);
  const email = `family.${asciiOf(name) || 'home'}.${index}@example.net`;
  return { name, culture, mailbox: { email }, left: 2 + Math.floor(random() * 3) };
}

function personOf(
  random: () => number,
  { first, last, culture }: Person,
  employer: Organization | undefined,
): SampleContact {
  const person: SampleContact = {
    category: employer === undefined ? 'Person' : 'Business',
    first_name: first,
    last_name: last,
    country: culture.country,
    timezone: culture.timezone,
    currency: culture.currency,
    lead_source: pick(random, SOURCES),
    lead_status: pick(random, STATUSES),
    by_email: random() < 0.8,
    by_phone: random() < 0.3,
  };
  if (employer === undefined) return person;
  const work = { organization: employer.name, position: pick(random, POSITIONS), industry: pick(random, INDUSTRIES) };
  return { ...person, ...work, company_size: pick(random, SIZES), revenue: pick(random, REVENUES) };
}

/** Nothing, an empty string, a shared mailbox of an office, or a personal address, sometimes with unusual spelling. */
function emailOf(
  random: () => number,
  { first, last }: Person,
  index: number,
  employer: Organization | undefined,
): SampleContact {
  const kind = random();
  if (kind < 0.06) return {};
  if (kind < 0.08) return { email: '' };
  if (kind < 0.12 && employer !== undefined) return { email: `office@${employer.domain}` };
  const name = [asciiOf(first), asciiOf(last)].filter((part) => part !== '').join('.');
  const local = `${name || 'contact'}.${index}`;
  const email = `${local}@${employer?.domain ?? pick(random, ['example.com', 'example.org', 'example.net'])}`;
  if (kind > 0.98) return { email: ` ${email} ` };
  return { email: kind > 0.95 ? email.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()) : email };
}

function phoneOf(random: () => number, culture: Culture, employer: Organization | undefined): SampleContact {
  const kind = random();
  if (kind < 0.08) return { phone: null };
  if (kind < 0.12) return { phone: '' };
  if (kind < 0.18) return {};
  if (kind < 0.28 && employer !== undefined) return { phone: employer.phone };
  return { phone: digits(random, pick(random, culture.phones)) };
}

function digits(random: () => number, format: string): string {
  return format.replace(/#/g, () => String(Math.floor(random() * 10)));
}

/** The letters that are safe in an address; empty for a name in another script. */
function asciiOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/ß/g, 'ss').replace(/[łŁ]/g, 'l').replace(/[øØ]/g, 'o');
  return plain.replace(/[^A-Za-z]/g, '').toLowerCase();
}
