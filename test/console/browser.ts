/** Pages in a real browser, and what is wrong with them. */
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

export const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { viewport: { width: 375, height: 740 } },
};

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

/** What axe finds on the page: the rule, and the first element that breaks it. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })');
  const { violations } = found as axe.AxeResults; // safe: the answer of axe.run
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

/** Whether something is wider than the screen. */
export async function expectNoSideways(page: Page): Promise<void> {
  const [wide, screen] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(wide).toBeLessThanOrEqual(screen);
}

const DESK = { width: 1280, height: 720 };

/** Nothing is wrong with the page as it is open: light, dark, and on a phone. */
export async function expectSound(page: Page, path = page.url()): Promise<void> {
  for (const { colorScheme = 'light', viewport = DESK } of Object.values(LOOKS)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport ?? DESK);
    expect([path, await violations(page)]).toEqual([path, []]);
    await expectNoSideways(page);
  }
}

/** Texts of people and other systems that must be shown, and must do nothing. */
export const HOSTILE: readonly string[] = [
  `<img src=x onerror="alert(1)"><script>alert(2)</script>`,
  `=HYPERLINK("https://evil.example","x")`,
  `"><svg onload=alert(3)>' &amp; \\u0000 \u001b[31m \u202egpj.exe`,
  'x'.repeat(10_000),
  'مرحبا بالعالم',
];
