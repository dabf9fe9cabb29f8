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

/** Chromium obeys only the last list of features, so this one also has those of Playwright's that call hosts or hold back a page. */
const NOT_NEEDED = [
  ...['AimEnabled', 'HttpsUpgrades', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PreconnectToSearch'],
  ...['DestroyProfileOnBrowserClose', 'MediaRouter', 'PaintHolding'],
  // A process that waits for the next site, and one for each window that has two pages of its address bar.
  ...['SpareRendererForSitePerProcess', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
];

/** Without processes that the tests do not need, such as those for pictures and the network. */
const ARGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--in-process-gpu',
  '--enable-features=NetworkServiceInProcess2',
  `--disable-features=${NOT_NEEDED.join(',')}`,
];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ARGS });
}
