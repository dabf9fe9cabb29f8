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

test('services of seven frameworks, five databases and eight products are read without settings, and one whose ids are addresses', async () => {
  const none = { contacts: 5, customers: 0, orders: 0, tasks: 1 };
  const forms = [
    plainService({ createAnswers: 'record', blanks: 'null', amounts: 'text' }),
    plainService({ idForm: 'uuid', order: 'scattered', sizes: none }),
  ];
  const written = [...FRAMEWORKS, ...STORES, ...PRODUCTS].flatMap((framework, n) =>
    byLength({ few: forms.slice(n % 2).slice(0, 1), all: forms }).map((form) => frameworkService(framework, form)),
  );
  const wanted = [...written, plainService({ idForm: 'address' })];
  const checked = await checkServices(wanted.map((drawn) => ({ drawn })));
  expect(checked.map(({ drawn, status, why }) => [drawn.framework, drawn.idForm, status, ...why])).toEqual(
    wanted.map(({ framework, idForm }) => [framework, idForm, 'handled']),
  );
});
