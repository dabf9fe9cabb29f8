/** When the packages for traces are loaded, and what is said if they are missing. */
import path from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { shellWord } from '../../src/base/reasons/template.ts';
import { openTelemetry } from '../../src/cli/workspace/open-telemetry.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function opening(env: NodeJS.Dict<string>) {
  const logged: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  return { logged, opened: openTelemetry(env, log, () => Promise.reject(missing)) };
}

test.each([{}, { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }])(
  'nothing is loaded if no traces are wanted: %o',
  async (env) => {
    const { logged, opened } = opening(env);
    expect([await opened, logged]).toEqual([undefined, []]);
  },
);

test('says which packages to install if they are missing, and continues without traces', async () => {
  const { logged, opened } = opening(ENDPOINT);
  expect(await opened).toBeUndefined();
  const root = path.resolve(import.meta.dirname, '../..');
  const install = `npm install --no-save --prefix ${shellWord(root)} @opentelemetry/sdk-trace@2`;
  expect(logged).toEqual([expect.stringContaining(install)]);
});
