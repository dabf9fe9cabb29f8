/** Services as common frameworks and databases write them: contacts, orders and tasks are read and written with no client settings. */
import { expect, test } from 'vitest';
import { frameworkService, plainService } from '../support/drawn-service.ts';
import { FRAMEWORKS, STORES } from '../support/framework-forms.ts';
import { byLength } from '../support/property-runs.ts';
import { checkServices } from '../support/random-check.ts';

test('services of seven frameworks and five databases are read without settings, with and without records at the start', async () => {
  const none = { contacts: 5, customers: 0, orders: 0, tasks: 1 };
  const forms = [
    plainService({ createAnswers: 'record', blanks: 'null', amounts: 'text' }),
    plainService({ idForm: 'uuid', order: 'scattered', sizes: none }),
  ];
  const wanted = [...FRAMEWORKS, ...STORES].flatMap((framework, n) =>
    byLength({ few: forms.slice(n % 2).slice(0, 1), all: forms }).map((form) => ({
      drawn: frameworkService(framework, form),
    })),
  );
  const checked = await checkServices(wanted);
  expect(checked.map(({ drawn, status, why }) => [drawn.framework, status, ...why])).toEqual(
    wanted.map(({ drawn }) => [drawn.framework, 'handled']),
  );
});
