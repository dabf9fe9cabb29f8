/** What templates write. */
import { afterEach, expect, test, vi } from 'vitest';
import { compileTemplate } from '../../src/settings/template.ts';

const write = (text: string) => compileTemplate<object>(text, 'json')({ record: { id: 7, done: '2026-03-01' } });

afterEach(() => {
  vi.unstubAllEnvs();
});

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

test.each([
  ['2026-12-01T09:00:00', '2026-12-01 09 1796115600'],
  ['2026-12-01 09:00', '2026-12-01 09 1796115600'],
  ['2026-12-01T09:00:00+01:00', '2026-12-01 08 1796112000'],
  ['2026-12-01T09:00:00.000Z', '2026-12-01 09 1796115600'],
  ['2026-12-01', '2026-12-01 00 1796083200'],
])('a machine in any time zone writes %s as %s', (at, written) => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(compileTemplate<object>('{{ at | date: "%Y-%m-%d %H %s" }}', 'text')({ at })).toBe(written);
});
