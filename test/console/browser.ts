/** Pages in a real browser, and what is wrong with them. */
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Opens a page that collects what goes wrong on it: errors, and everything the policy forbids. */
export async function openPage(browser: Browser, look: BrowserContextOptions = {}) {
  const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', ...look });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, wrong, close: () => context.close() };
}

/** What axe finds on the page: the rule, and the first element that breaks it. `rules`: only these; by default all. */
async function violations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const options: axe.RunOptions = { resultTypes: ['violations'], ...(rules && { runOnly: [...rules] }) };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations } = found as axe.AxeResults; // safe: the answer of axe.run
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

/** Nothing is wider than the screen. */
async function expectNoSideways(page: Page): Promise<void> {
  const [wide, screen] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(wide).toBeLessThanOrEqual(screen);
}

const [DESK, PHONE] = [
  { width: 1280, height: 720 },
  { width: 375, height: 740 },
];

/** Nothing is wrong with the page as it is open: light, dark, and on a phone. Dark, only the colours are other ones. */
export async function expectSound(page: Page, path = page.url()): Promise<void> {
  for (const [colorScheme, viewport, rules] of [
    ['dark', DESK, ['color-contrast']],
    ['light', PHONE, undefined],
    ['light', DESK, undefined],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    expect([path, await violations(page, rules)]).toEqual([path, []]);
    await expectNoSideways(page);
  }
  expect(await page.innerText('main')).not.toMatch(/^(null|undefined|NaN|true|false|,)$/m);
}

/** Texts of people and other systems that must be shown, and must do nothing. */
export const HOSTILE: readonly string[] = [
  `<img src=x onerror="alert(1)"><script>alert(2)</script>`,
  `=HYPERLINK("https://evil.example","x")`,
  `"><svg onload=alert(3)>' &amp; \\u0000 \u001b[31m \u202egpj.exe`,
  'x'.repeat(10_000),
  'مرحبا بالعالم',
];
