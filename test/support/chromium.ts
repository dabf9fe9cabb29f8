/** Chromium, where it is installed. */
import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser's program; undefined where none is installed. */
export const CHROMIUM = findProgram();

function findProgram(): string | undefined {
  try {
    const found = execFileSync('sh', ['-c', NAMES.map((name) => `command -v ${name}`).join(' || ')], {
      encoding: 'utf8',
    });
    return found.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Without processes that the tests do not need: those for pictures and the network, and one that waits for the next site. */
const ARGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--in-process-gpu',
  '--enable-features=NetworkServiceInProcess2',
  '--disable-features=SpareRendererForSitePerProcess',
];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ARGS });
}
