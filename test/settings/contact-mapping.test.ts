import { expect, test } from 'vitest';
import { problemsIn, settingsOf } from './problems-in.ts';

const withOptions = (options: string) =>
  `accounts: { demo: {} }\nsyncs:\n  night:\n    type: contacts\n    account: demo\n    options:\n      ${options}\n`;

test('a mapping and a filter are kept as they are written', () => {
  const text = withOptions(
    'map: { phone_number: { from: phone, transform: { phone: DE }, strict: true }, gender: none }\n      where: { country: [DE, AT], by_email: true }',
  );
  expect(settingsOf(text).syncs.night?.options).toMatchObject({
    map: { phone_number: { from: 'phone', transform: { phone: 'DE' }, strict: true }, gender: 'none' },
    where: { country: ['DE', 'AT'], by_email: true },
  });
});

const MAPS: readonly (readonly [map: string, problem: string])[] = [
  ['{ phone: { from: phone } }', 'map.phone: no field of a customer is called "phone"; did you mean "phone_number"?'],
  ['{ emial: { from: email } }', 'map.emial: no field of a customer is called "emial"; did you mean "email"?'],
  ['{ email: { from: emial } }', 'map.email.from: no field of a contact is called "emial"; did you mean "email"?'],
  ['{ email: { from: mail, template: "{{ email }}" } }', 'map.email: expected exactly one of from, template, value'],
  [
    '{ email: email }',
    'map.email: expected { from: … }, { template: … }, { value: … } or none, got text; write { from: "email" }',
  ],
  ['{ gender: "{{ state }}" }', 'got text; write { template: "{{ state }}" }'],
  ['{ gender: unknown }', 'got text; write { value: "unknown" }'],
  ['{ gender: { value: 7 } }', 'map.gender.value: expected text; write numbers in quotes, got the number 7'],
  ['{ gender: { value: "" } }', 'map.gender.value: must not be empty'],
  ['{ gender: { template: "{{ stat }}" } }', 'template: no field of a contact is called "stat"; did you mean "state"?'],
  ['{ gender: { template: "{{ state" } }', 'template: not a valid template: output "{{ state" not closed'],
  [
    '{ gender: { template: "{state}" } }',
    'template: it names no field of the contact, such as {{ first_name }}; for a fixed text, use value',
  ],
  ['{ email: { from: email, transform: lowr } }', 'transform: no transform is called "lowr"; did you mean "lower"?'],
  ['{ email: { from: email, transform: [trim, lowr] } }', 'transform[1]: no transform is called "lowr"'],
  ['{ phone_number: { from: phone, transform: { phone: UK } } }', 'got "UK"; the United Kingdom is GB'],
  ['{ phone_number: { from: phone, transform: [{ phone: de }] } }', 'transform[0].phone: expected a country'],
  ['{ email: { from: email, strict: true } }', 'map.email.strict: strict is only for the transform phone'],
  ['{ email: none }', 'map.email: matchBy lists email, and this field would be empty'],
  ['{ email: { value: a@example.com } }', 'map.email: matchBy lists email, and one value would make all contacts one'],
  ['{}', 'map: needs at least one field; leave map out to take all fields as the contact has them'],
  ['3', 'map: expected a map of fields, got the number 3'],
];

test.each(MAPS)('a mapping that cannot be used is refused with its place: %s', (map, problem) => {
  expect(problemsIn(withOptions(`map: ${map}`))).toEqual(
    expect.arrayContaining([expect.stringMatching(/^7:\d+ syncs\.night\.options\./), expect.stringContaining(problem)]),
  );
});

test('customers that are imported have no mapping', () => {
  expect(problemsIn(withOptions('importWith: import\n      map: { gender: { value: x } }'))).toEqual([
    expect.stringContaining('options.importWith: customers.import leaves the fields to the service'),
  ]);
});

const FILTERS: readonly (readonly [where: string, problem: string])[] = [
  [`country = "DE"`, 'where: expected a map of fields, got text; write { country: DE }'],
  ['country != DE', 'got text; write { country: { not: DE } }'],
  ['country = DE and state = X', 'got text; write { country: DE }, or { country: [DE, AT] }'],
  ['{ contry: DE }', 'where.contry: no field of a contact is called "contry"; did you mean "country"?'],
  ['{ zip_code: 01067 }', 'got the number 1067; write it in quotes'],
  ['{ email: { present: yes } }', 'where.email.present: expected true or false, got text; write true'],
  ['{ email: { not: [] } }', 'where.email.not: needs at least one value'],
  ['{}', 'where: needs at least one field; leave where out to import all contacts'],
];

test.each(FILTERS)('a filter that cannot be used is refused with the right form: %s', (where, problem) => {
  expect(problemsIn(withOptions(`where: ${where}`))).toEqual([expect.stringContaining(problem)]);
});
