import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test("pg is loaded without Node's fetch", async () => {
  const program = `
    await import('./src/cli/bin/navigator.mjs');
    await import('pg');
    console.log(process.moduleLoadList.filter((name) => name.includes('undici')).length);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('0\n');
});
