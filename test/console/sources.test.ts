import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('pages are rendered from the sources, whatever directory the command is started in', async () => {
  const files = ['../../src/cli/run-ts.mjs', 'part-program.ts'].map((file) => path.join(import.meta.dirname, file));
  const { stdout } = await promisify(execFile)(process.execPath, files, { cwd: os.tmpdir() });
  expect(stdout).toContain('<code>runs show &lt;b&gt;</code>');
});
