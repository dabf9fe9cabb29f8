/**
 * Services as common frameworks, databases and products write them: contacts, orders and tasks are read and written with no client
 * settings.
 */
import { expect, test } from 'vitest';
import { frameworkService, plainService } from '../support/drawn-service.ts';
import { FRAMEWORKS, STORES } from '../support/framework-forms.ts';
import { PRODUCTS } from '../support/product-forms.ts';
import { byLength } from '../support/property-runs.ts';
import { checkServices } from '../support/random-check.ts';

const none = { contacts: 5, customers: 0, orders: 0, tasks: 1 };
const FORMS = [
  plainService({ createAnswers: 'record', blanks: 'null', amounts: 'text' }),
  plainService({ idForm: 'uuid', order: 'scattered', sizes: none }),
];

test.each([
  ['of frameworks and databases', [...FRAMEWORKS, ...STORES], []],
  [
    'of products, or with addresses as ids,',
    byLength({ few: PRODUCTS.slice(0, 2), all: PRODUCTS }),
    [plainService({ idForm: 'address' })],
  ],
])('services %s are read without settings', async (_, frameworks, others) => {
  const written = frameworks.flatMap((framework, n) =>
    byLength({ few: FORMS.slice(n % 2).slice(0, 1), all: FORMS }).map((form) => frameworkService(framework, form)),
  );
  const wanted = [...written, ...others];
  const checked = await checkServices(wanted.map((drawn) => ({ drawn })));
  expect(checked.map(({ drawn, status, why }) => [drawn.framework, drawn.idForm, status, ...why])).toEqual(
    wanted.map(({ framework, idForm }) => [framework, idForm, 'handled']),
  );
});
