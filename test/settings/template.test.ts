/** What templates write. */
import { expect, test } from 'vitest';
import { compileTemplate } from '../../src/settings/template.ts';

const write = (text: string) => compileTemplate<object>(text, 'json')({ record: { id: 7, done: '2026-03-01' } });

test.each([
  ['{{ record | with: "done", true | json }}', '{"id":7,"done":true}'],
  ['{{ record | with: "done", null | json }}', '{"id":7,"done":null}'],
  ['{{ record | with: "done", empty | with: "id", record.done | json }}', '{"id":"2026-03-01","done":""}'],
  ['[{{ null | json }}, "{{ nil }}"]', '[null, ""]'],
])('the template %s writes %s', (text, written) => {
  expect(write(text)).toBe(written);
});

test('the filter with needs a value', () => {
  expect(() => write('{{ record | with: "done" | json }}')).toThrow('with needs a name and a value');
});
