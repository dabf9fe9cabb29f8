/** The load of a file in a real browser. */
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeEach, expect } from 'vitest';
import { openLoadConsole } from './load-console.ts';

export const HOSTILE = [
  `<img src=x onerror="alert(1)"><script>alert(2)</script>`,
  `=HYPERLINK("https://evil.example","x")`,
  `"><svg onload=alert(3)>' \u202egpj.exe`,
];

/** For the file that calls it: a console, with three customers at the beginning of each test. */
export async function openLoads() {
  const { harness, web } = await openLoadConsole();
  beforeEach(async () => {
    await harness.reset();
    await harness.addNumberedCustomers(3);
  });
  afterAll(() => harness.close());

  const at = {
    harness,
    web,
    async choose(page: Page, name: string, content: string | Buffer): Promise<void> {
      await page.goto(`${at.web.url}/load`);
      await page
        .getByLabel('choose it or drop it here')
        .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
      await page.getByRole('button', { name: 'Upload' }).click();
    },
    async restart(): Promise<void> {
      await at.web.close();
      at.web = await harness.workspace.serveConsole();
    },
    /** Sends half of a file, and closes the connection once it is being written. */
    async breakOff(url: string): Promise<void> {
      const { hostname, port } = new URL(url);
      const part = (name: string) => `--x\r\ncontent-disposition: form-data; name="${name}"`;
      const half = `${part('account')}\r\n\r\ntest\r\n${part('file')}; filename="half.csv"\r\n\r\norder_id,amount\r\nA,1`;
      const form = `content-type: multipart/form-data; boundary=x\r\ncontent-length: 9999`;
      const socket = connect(Number(port), hostname);
      socket.write(`POST /load HTTP/1.1\r\nhost: ${hostname}:${port}\r\norigin: ${url}\r\n${form}\r\n\r\n${half}`);
      await expect.poll(at.uploaded).not.toEqual([]);
      socket.destroy();
    },
    uploaded: () => readdir(path.join(harness.dataDir, 'uploads')),
    said: (page: Page) => page.textContent('main :is(.said, .notice).bad'),
  };
  return at;
}
