/** `map` of a contact sync: where the fields of a customer come from. docs/contacts.md explains it. */
import { z } from 'zod';
import { isPhoneCountry } from '../base/phone.ts';
import { contactField, contactFieldProblem, customerField } from './contact-fields.ts';
import { contactTemplateProblems } from './contact-template.ts';
import { exactlyOneOf, hasKeys } from './fields.ts';
import { explainType } from './issues.ts';
import { didYouMean, quote } from './message-parts.ts';

const PLAIN = ['trim', 'lower', 'upper', 'phone'] as const;
const TRANSFORMS = 'trim, lower, upper, phone or { phone: DE }';
const COUNTRY = 'a country of two capital letters, such as DE';

const country = z
  .string({ error: ({ input }) => explainType(COUNTRY, input) })
  .refine((code) => isPhoneCountry(code), {
    error: ({ input }) =>
      `expected ${COUNTRY}, got ${quote(String(input))}${input === 'UK' ? '; the United Kingdom is GB' : ''}`,
  })
  .describe('Country of phone numbers without a country code.');

const transform = z.union([z.enum(PLAIN), z.strictObject({ phone: country })], {
  error: ({ input }) => transformProblem(input),
});

/** In a union, the problem of the branch that was meant. */
function transformProblem(input: unknown): string {
  if (typeof input === 'string')
    return `no transform is called ${quote(input)}${didYouMean(input, PLAIN)}; expected ${TRANSFORMS}`;
  if (typeof input === 'object' && input !== null && 'phone' in input) {
    const [issue] = country.safeParse(input.phone).error?.issues ?? [];
    if (issue) return issue.message;
  }
  return explainType(`${TRANSFORMS}, or a list of these`, input);
}

const template = z
  .string({ error: ({ input }) => explainType('text such as "{{ first_name }} {{ last_name }}"', input) })
  .superRefine((text, context) => {
    for (const message of contactTemplateProblems(text)) context.addIssue({ code: 'custom', message });
  });

const text = z
  .string({
    error: ({ code, input }) =>
      code === 'invalid_type' ? explainType('text; write numbers in quotes', input) : undefined,
  })
  .trim()
  .min(1);

const rule = z
  .strictObject({
    from: contactField.optional().describe('Field of the contact.'),
    template: template
      .optional()
      .describe(
        'Text with fields of the contact: {{ first_name }} {{ last_name }}. The language is Liquid, as for targets.',
      ),
    value: text.optional().describe('The same text for every contact.'),
    transform: z
      .union([z.array(transform).min(1), transform], { error: ({ input }) => transformProblem(input) })
      .optional()
      .describe('trim, lower, upper, phone (to +49305550000) or { phone: DE }, or a list of these, applied in turn.'),
    default: text.optional().describe('Used if the result is empty.'),
    required: z.boolean().optional().describe('A contact whose result is empty is not sent. Default: false.'),
    strict: z
      .boolean()
      .optional()
      .describe('A contact whose phone number cannot be read is not sent. Default: false, the number stays as it is.'),
  })
  .check(exactlyOneOf(['from', 'template', 'value']))
  .meta({ oneOf: [{ required: ['from'] }, { required: ['template'] }, { required: ['value'] }] })
  .refine(({ strict, transform }) => strict === undefined || /phone/.test(JSON.stringify(transform ?? '')), {
    error: 'strict is only for the transform phone',
    path: ['strict'],
  });

/** How one field of a customer is made. `none`: it is never written. */
export type MapRule = z.output<typeof rule>;
export type Transform = z.output<typeof transform>;

export const contactMap = z
  .partialRecord(customerField, z.union([z.literal('none'), rule], { error: ({ input }) => explainRule(input) }), {
    error: ({ code, input }) => (code === 'invalid_type' ? explainType('a map of fields', input) : undefined),
  })
  .check(hasKeys('needs at least one field; leave map out to take all fields as the contact has them'));

export type ContactMap = z.output<typeof contactMap>;

/** A field is always a map, so that the name of a field is never mistaken for a text, or a text for a name. */
function explainRule(input: unknown): string {
  const problem = explainType('{ from: … }, { template: … }, { value: … } or none', input);
  if (typeof input !== 'string') return problem;
  const isField = contactFieldProblem(input) === undefined;
  const key = input.includes('{{') ? 'template' : isField ? 'from' : 'value';
  return `${problem}; write { ${key}: ${JSON.stringify(input)} }`;
}

const FIELD_OF_KEY = { email: 'email', phone: 'phone_number', name: 'full_name' } as const;

/** A mapping must leave what matches contacts with customers, and needs customers to be sent with their fields. */
export function checkContactMap(
  {
    map,
    matchBy,
    importWith,
  }: { map?: ContactMap | undefined; matchBy: readonly (keyof typeof FIELD_OF_KEY)[]; importWith: string },
  context: z.RefinementCtx,
): void {
  if (map === undefined) return;
  const report = (message: string, path: readonly string[]) =>
    context.addIssue({ code: 'custom', message, path: [...path] });
  if (importWith === 'import') {
    const why = 'customers.import leaves the fields to the service, so map would have no effect';
    report(`${why}: remove importWith or map`, ['importWith']);
  }
  for (const key of matchBy) {
    const field = FIELD_OF_KEY[key];
    const made = map[field];
    const way = `map it to a field of the contact, or remove ${key} from matchBy`;
    if (made === 'none') report(`matchBy lists ${key}, and this field would be empty: ${way}`, ['map', field]);
    else if (made?.value !== undefined)
      report(`matchBy lists ${key}, and one value would make all contacts one customer: ${way}`, ['map', field]);
  }
}
