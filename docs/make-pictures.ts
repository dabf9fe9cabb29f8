/**
 * Makes the pictures of the console in docs/: `npm run pictures`. It runs the demo, and needs Chromium.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { launch } from '../test/support/chromium.ts';

const SIZE = { width: 1200, height: 760 };

const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-pictures-'));
const bin = path.join(import.meta.dirname, '../src/cli/bin/lockstep.mjs');
const demo = spawn(process.execPath, [bin, 'demo', '--keep', '--data', '.'], {
  cwd: dir,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await consoleOf(demo);
  const browser = await launch();
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
  await page.goto(`${url}/runs`);
  await page.getByRole('link', { name: 'nightly-contacts' }).last().click(); // its first run, which creates customers
  await page.waitForURL(/\/runs\/run-/);
  await page.screenshot({ path: path.join(import.meta.dirname, 'console-run.png') });
  await browser.close();
} finally {
  demo.kill('SIGTERM');
  await once(demo, 'exit');
  await rm(dir, { recursive: true, force: true });
}

/** The address that the demo prints once all of its work is done. */
async function consoleOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new TypeError('the demo was started without a pipe');
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /in a browser: +(\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the demo ended before it served the console');
}
