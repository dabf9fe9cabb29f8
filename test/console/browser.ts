/** Pages in a real browser, and what is wrong with them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { launch } from '../support/chromium.ts';

interface Look {
  readonly javaScriptEnabled?: boolean;
}

/** Pages without a test, by browser and whether they run scripts: a new one starts two processes. */
const idle = new WeakMap<Browser, Map<boolean, Page[]>>();

function idlePages(browser: Browser, runsScripts: boolean): Page[] {
  const pages = idle.get(browser) ?? new Map<boolean, Page[]>();
  idle.set(browser, pages);
  const these = pages.get(runsScripts) ?? [];
  pages.set(runsScripts, these);
  return these;
}

async function newPage(browser: Browser, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', javaScriptEnabled });
  return context.newPage();
}

/** Opens an empty page that collects what goes wrong on it: errors, and everything the policy forbids. Close it to leave nothing behind. */
export async function openPage(browser: Browser, { javaScriptEnabled = true }: Look = {}) {
  const free = idlePages(browser, javaScriptEnabled);
  const page = free.pop() ?? (await newPage(browser, javaScriptEnabled));
  const wrong: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const close = async (): Promise<void> => {
    page.removeAllListeners();
    for (const tab of page.context().pages()) if (tab !== page) await tab.close();
    await page.goto('about:blank');
    await page.context().clearCookies();
    free.push(page);
  };
  return { page, wrong, close };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Opens pages for the tests of one `describe` that calls it, in a browser of its own. */
export function browserPages() {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  return (look?: Look) => openPage(browser, look);
}

/** What axe finds on the page: the rule, and the first element that breaks it. */
async function violations(page: Page, how: axe.RunOptions): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const options: axe.RunOptions = { resultTypes: ['violations'], ...how };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations } = found as axe.AxeResults; // safe: the answer of axe.run
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

/** Tables that reach over what is beside them, because they are wider than their place and do not scroll in it. */
const BEYOND_ITS_PLACE = `[...document.querySelectorAll('main table')]
  .filter((table) => table.offsetWidth > table.parentElement.clientWidth && !table.closest('.wide'))
  .map((table) => table.innerText.slice(0, 200))`;

/** Nothing is wider than the screen or its place. */
async function expectNoSideways(page: Page): Promise<void> {
  const [wide, screen] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(wide).toBeLessThanOrEqual(screen);
  expect(await page.evaluate(BEYOND_ITS_PLACE)).toEqual([]);
}

const [DESK, PHONE] = [
  { width: 1280, height: 720 },
  { width: 375, height: 740 },
];

/** Its rule for colours takes two thirds of its time. */
const COLOURS = 'color-contrast';

/** The paths of the pages that a route serves. */
export function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`);
}

/**
 * Nothing is wrong with the page as it is open: light, dark, and on a phone. Dark, only the colours are other ones; on a phone, all but them.
 * `path`: what was opened; the path of a route, with its `:parameters`, has to be the page that is open.
 */
export async function expectSound(page: Page, path = page.url()): Promise<void> {
  if (path.includes('/:')) expect(new URL(page.url()).pathname).toMatch(patternOf(path));
  const states: readonly (readonly ['dark' | 'light', typeof DESK, axe.RunOptions])[] = [
    ['dark', DESK, { runOnly: [COLOURS] }],
    ['light', PHONE, { rules: { [COLOURS]: { enabled: false } } }],
    ['light', DESK, {}],
  ];
  for (const [colorScheme, viewport, how] of states) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    expect([path, await violations(page, how)]).toEqual([path, []]);
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
