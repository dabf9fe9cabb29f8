import { describe, expect, test } from 'vitest';
import { sentenceFor } from '../../../src/base/reasons/reasons.ts';
import type { Json, JsonObject } from '../../../src/client/call/json.ts';
import type { CustomerFields } from '../../../src/contract/records.ts';
import type { ContactFilter } from '../../../src/settings/contact-filter.ts';
import type { ContactMap } from '../../../src/settings/contact-map.ts';
import { fieldsHash, mappingOf } from '../../../src/syncs/contacts/mapping.ts';
import { customerFieldsOf, keysOf, labelOf, personFieldsOf } from '../../../src/syncs/customers/keys.ts';

/** Two spellings of one text: as composed characters, and as letters with marks. */
const COMPOSED = 'Zoë Ångström'.normalize('NFC');
const DECOMPOSED = COMPOSED.normalize('NFD');

describe('a contact as a customer', () => {
  const whole: JsonObject = {
    first_name: 'Ann',
    last_name: 'Lee',
    email: 'ann@example.com',
    phone: '+1 555 0100',
    organization: 'Lee & Co',
    picture_url: 'https://example.com/ann.png',
  };
  const cases: readonly [string, JsonObject, CustomerFields][] = [
    [
      'takes the fields that both have, under the customer’s names',
      { ...whole, category: 'lead', by_phone: true, id: 7 },
      {
        full_name: 'Ann Lee',
        email: 'ann@example.com',
        phone_number: '+1 555 0100',
        organization: 'Lee & Co',
        picture_url: 'https://example.com/ann.png',
      },
    ],
    ['leaves out what is missing', { first_name: 'Ann' }, { full_name: 'Ann' }],
    ['leaves out what is empty, blank or null', { first_name: '', last_name: ' ', email: '\t', phone: null }, {}],
    ['is named by the last name alone', { last_name: ' Lee ' }, { full_name: 'Lee' }],
    ['trims', { first_name: ' Ann\n', email: ' ann@example.com ' }, { full_name: 'Ann', email: 'ann@example.com' }],
    ['keeps accents, case and spaces within as they are', { first_name: DECOMPOSED }, { full_name: DECOMPOSED }],
    ['turns numbers into text', { first_name: 7, phone: 5550100 }, { full_name: '7', phone_number: '5550100' }],
    ['takes nothing else for text', { first_name: true, last_name: ['Lee'], email: { at: 1 } }, {}],
    ['drops NUL, which Postgres cannot hold', { first_name: 'A\0nn', email: '\0' }, { full_name: 'Ann' }],
    ['replaces half of an emoji, which no JSON store holds', { first_name: 'Ann \ud83d' }, { full_name: 'Ann \ufffd' }],
    ['keeps a whole emoji', { first_name: 'Ann 🎈' }, { full_name: 'Ann 🎈' }],
    ['is nothing where the contact is empty', {}, {}],
  ];

  test.each(cases)('%s', (_name, contact, customer) => {
    expect(personFieldsOf(contact)).toEqual(customer);
  });
});

describe('a mapping', () => {
  const contact: JsonObject = {
    first_name: 'Ann',
    last_name: 'Lee',
    email: 'Ann@Example.com',
    phone: '030 555-0000',
    organization: 'Lee & Co',
    linkedIn: 'ann-lee',
    by_email: 1,
    by_text: false,
  };
  const phone = { from: 'phone', transform: { phone: 'DE' } } as const;
  const cases: readonly [string, ContactMap, JsonObject, CustomerFields][] = [
    ['takes another field', { organization: { from: 'linkedIn' } }, {}, { organization: 'ann-lee' }],
    [
      'fills in a template',
      { organization: { template: '{{ last_name }}, {{ full_name }}' } },
      {},
      { organization: 'Lee, Ann Lee' },
    ],
    [
      'leaves out an optional part',
      { organization: { template: '{{ organization }}{% if country %} ({{ country }}){% endif %}' } },
      {},
      { organization: 'Lee & Co' },
    ],
    [
      'keeps an optional part',
      { organization: { template: '{{ organization }}{% if country %} ({{ country }}){% endif %}' } },
      { country: 'DE' },
      { organization: 'Lee & Co (DE)' },
    ],
    [
      'is empty if all fields of a template are',
      { organization: { template: 'of {{ state }}' } },
      {},
      { organization: undefined },
    ],
    [
      'does not read a value as a template',
      { organization: { template: '{{ state }}' } },
      { state: '{{ email }} {% x %}' },
      { organization: '{{ email }} {% x %}' },
    ],
    ['sets one value', { gender: { value: 'unknown' } }, {}, { gender: 'unknown' }],
    ['never writes none', { organization: 'none' }, {}, { organization: undefined }],
    ['uses a default', { gender: { from: 'position', default: 'unknown' } }, {}, { gender: 'unknown' }],
    [
      'applies transforms in turn',
      { email: { from: 'email', transform: ['upper', 'lower'] } },
      {},
      { email: 'ann@example.com' },
    ],
    ['writes a phone number of a country', { phone_number: phone }, {}, { phone_number: '+49305550000' }],
    [
      'reads a number with a country code',
      { phone_number: phone },
      { phone: '0043 1 58858' },
      { phone_number: '+43158858' },
    ],
    [
      'reads only numbers with a country code',
      { phone_number: { from: 'phone', transform: 'phone' } },
      {},
      { phone_number: '030 555-0000' },
    ],
    ['keeps a number that cannot be read', { phone_number: phone }, { phone: 'ask Eve' }, { phone_number: 'ask Eve' }],
    [
      'keeps a number with an extension',
      { phone_number: phone },
      { phone: '030 5550000 ext. 12' },
      { phone_number: '030 5550000 ext. 12' },
    ],
    ['reads flags', { gender: { template: '{{ by_email }} {{ by_text }}' } }, {}, { gender: 'true false' }],
  ];
  test.each(cases)('%s', (_name, map, more, customer) => {
    const plain = {
      full_name: 'Ann Lee',
      email: 'Ann@Example.com',
      phone_number: '030 555-0000',
      organization: 'Lee & Co',
    };
    const whole = { ...contact, ...more };
    const expected = { ...plain, ...(typeof more.phone === 'string' && { phone_number: more.phone }), ...customer };
    const { fields, failures } = mappingOf({ map }).map(whole);
    expect([fields, failures]).toEqual([JSON.parse(JSON.stringify(expected)), []]);
  });

  test('fails for a number that cannot be read, and for an empty field, if the settings say so', () => {
    const map: ContactMap = { phone_number: { ...phone, strict: true }, gender: { from: 'state', required: true } };
    expect(mappingOf({ map }).map({ phone: '12' }).failures).toEqual([
      { code: 'MAP_EMPTY', facts: { field: 'gender' } },
      { code: 'MAP_NOT_A_PHONE', facts: { field: 'phone_number', value: '12', country: 'DE' } },
    ]);
    const [failure] = mappingOf({ map: { phone_number: map.phone_number } }).map({
      phone: '030 5550000 ext. 5',
    }).failures;
    expect(sentenceFor(failure?.code ?? null, failure?.facts ?? null)).toMatch(
      /^phone_number: "030 5550000 ext\. 5" has an extension, .* Move the extension to another field of the contact, or remove `strict` /,
    );
  });

  test('writes the fields that it does not leave out', () => {
    const { written } = mappingOf({ map: { gender: { value: 'x' }, email: 'none' } });
    expect(written).toEqual(['full_name', 'gender', 'picture_url', 'organization', 'phone_number']);
  });
});

const filters: readonly [ContactFilter, boolean][] = [
  [{ country: 'DE' }, true],
  [{ country: ' de ' }, true],
  [{ country: 'AT' }, false],
  [{ country: ['AT', 'DE'] }, true],
  [{ country: { not: ['AT', 'CH'] } }, true],
  [{ country: { not: 'DE' } }, false],
  [{ state: { not: 'Bavaria' } }, true],
  [{ state: { present: true } }, false],
  [{ state: { present: false } }, true],
  [{ by_email: true, by_text: false }, true],
  [{ by_email: { not: true } }, false],
  [{ country: 'DE', full_name: 'ben' }, false],
];
test.each(filters)('the filter %j selects the contact: %s', (where, isSelected) => {
  const contact = { first_name: 'Ann', country: 'DE', state: '', by_email: true, by_text: 0 };
  expect(mappingOf({ where }).selects(contact)).toBe(isSelected);
});

describe('a customer', () => {
  const cases: readonly [string, JsonObject, CustomerFields][] = [
    ['is named full_name', { full_name: 'Ann Lee', name: 'x' }, { full_name: 'Ann Lee' }],
    ['is named first_name and last_name', { first_name: 'Ann', last_name: 'Lee' }, { full_name: 'Ann Lee' }],
    ['keeps what only customers have', { gender: 'female', id: 1, tenant_id: 2 }, { gender: 'female' }],
  ];

  test.each(cases)('%s', (_name, record, fields) => {
    expect(customerFieldsOf(record)).toEqual(fields);
  });
});

describe('keys', () => {
  const emails: readonly [Json | undefined, string | undefined][] = [
    ['Ann@Example.COM', 'ann@example.com'],
    [' ann@example.com\n', 'ann@example.com'],
    ['ZOË@example.com'.normalize('NFD'), 'zoë@example.com'.normalize('NFC')],
    ['Ann@XN--BCHER-KVA.example', 'ann@bücher.example'],
    ['ann@BÜCHER.example', 'ann@bücher.example'],
    ['ann@xn--.example', 'ann@xn--.example'],
    ['none', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [7, undefined],
  ];
  test.each(emails)('the e-mail %j is compared as %j', (email, key) => {
    expect(keysOf(personFieldsOf(email === undefined ? {} : { email })).email).toBe(key);
  });

  const phones: readonly [Json, string | undefined][] = [
    ['+49 (30) 55-500/00', '49305550000'],
    ['0049 30 5550000', '49305550000'],
    [' 00 49 30 5550000', '49305550000'],
    ['49.30.5550000', '49305550000'],
    [49305550000, '49305550000'],
    ['030 5550000', '0305550000'],
    ['12345', undefined],
    ['ext. 12', undefined],
    ['', undefined],
    [null, undefined],
  ];
  test.each(phones)('the phone %j is compared as %j', (phone, key) => {
    expect(keysOf(personFieldsOf({ phone })).phone).toBe(key);
  });

  const names: readonly [string, string, string | undefined][] = [
    ['Ann', 'LEE', 'ann lee'],
    [' Ann  Mary ', 'Lee', 'ann mary lee'],
    [DECOMPOSED, '', COMPOSED.toLowerCase()],
    ['Ann\u00a0Mary', 'Lee', 'ann mary lee'],
    ['Ａｎｎ', '', 'ann'],
    ['', '', undefined],
  ];
  test.each(names)('the name %j %j is compared as %j', (first_name, last_name, key) => {
    expect(keysOf(personFieldsOf({ first_name, last_name })).name).toBe(key);
  });

  test.each([
    ['LEE, Ann Mary', 'ann mary lee'],
    ['Lee,Ann', 'ann lee'],
    ['Lee, Ann, Dr.', 'lee, ann, dr.'],
    ['Lee,', 'lee,'],
  ])('the full name %j is compared as %j', (full_name, key) => {
    expect(keysOf({ full_name }).name).toBe(key);
  });

  test('the organization is compared as names are', () => {
    expect(keysOf({ organization: ' Lee  & CO ' }).org).toBe('lee & co');
  });

  test('a contact and the customer made from it have the same keys', () => {
    const contact = { first_name: DECOMPOSED, last_name: 'Lee', email: 'Ann@X.example', phone: '+1 555 0100' };
    const made = personFieldsOf(contact);
    expect(keysOf(customerFieldsOf({ ...made, id: 1 }))).toEqual(keysOf(made));
  });
});

describe('the hash', () => {
  const ann: CustomerFields = { full_name: 'Ann', email: 'ann@example.com' };
  test('is the same for the same fields in another order', () => {
    expect(fieldsHash({ email: 'ann@example.com', full_name: 'Ann' })).toBe(fieldsHash(ann));
  });

  test.each([
    [{ ...ann, full_name: 'ann' }],
    [{ ...ann, phone_number: '1' }],
    [{ full_name: 'Ann' }],
    [{ full_name: 'Annemail', email: '' }],
    [{ full_name: 'ann@example.com', email: 'Ann' }],
  ])('differs for %j', (other) => {
    expect(fieldsHash(other)).not.toBe(fieldsHash(ann));
  });
});

test.each([
  [{ full_name: 'Ann', email: 'ann@example.com' }, 'Ann <ann@example.com>'],
  [{ full_name: 'Ann', phone_number: '1' }, 'Ann'],
  [{ email: 'ann@example.com' }, 'ann@example.com'],
  [{ phone_number: '+1 555' }, '+1 555'],
  [{ organization: 'Lee & Co' }, '(no name)'],
])('people read %j as %j', (fields, label) => {
  expect(labelOf(fields)).toBe(label);
});
