/** `where` of a contact sync: which contacts it imports. docs/contacts.md explains it. */
import { z } from 'zod';
import { contactField, contactFieldProblem } from './contact-fields.ts';
import { exactlyOneOf, hasKeys } from './fields.ts';
import { explainType } from './issues.ts';

const TEXT = 'text, true or false';
const CONDITION = 'a text, a list of texts, { not: … } or { present: true }';

const one = z.union([z.string(), z.boolean()], { error: ({ input }) => explainValue(TEXT, input) });
const many = z.array(one).min(1, 'needs at least one value');
const values = z.union([one, many], { error: ({ input }) => explainValue('a text or a list of texts', input) });

const condition = z.union(
  [
    one,
    many,
    z
      .strictObject({
        not: values.optional().describe('The field has none of these values; an empty field has none of them.'),
        present: z.boolean().optional().describe('Whether the field has to have a value, or to be empty.'),
      })
      .check(exactlyOneOf(['not', 'present']))
      .meta({ oneOf: [{ required: ['not'] }, { required: ['present'] }] }),
  ],
  { error: ({ input }) => explainValue(CONDITION, input) },
);

export const contactFilter = z
  .partialRecord(contactField, condition, {
    error: ({ code, input }) => (code === 'invalid_type' ? explainFilter(input) : undefined),
  })
  .check(hasKeys('needs at least one field; leave where out to import all contacts'));

export type ContactFilter = z.output<typeof contactFilter>;

/** YAML reads 01067 as a number, and the zero is lost. */
function explainValue(expected: string, input: unknown): string {
  return `${explainType(expected, input)}${typeof input === 'number' ? '; write it in quotes' : ''}`;
}

function explainFilter(input: unknown): string {
  return `${explainType('a map of fields', input)}${typeof input === 'string' ? `; write ${asMap(input)}` : ''}`;
}

/** `country = "DE"` as it has to be written. */
function asMap(text: string): string {
  const [, field = '', sign = '', value = ''] = /^\s*(\w+)\s*(==?|!=|<>|:)\s*["']?(.*?)["']?\s*$/.exec(text) ?? [];
  const isKnown = value !== '' && !/\b(and|or)\b|&&|\|\|/i.test(value) && contactFieldProblem(field) === undefined;
  if (!isKnown) return '{ country: DE }, or { country: [DE, AT] }';
  return sign === '!=' || sign === '<>' ? `{ ${field}: { not: ${value} } }` : `{ ${field}: ${value} }`;
}
