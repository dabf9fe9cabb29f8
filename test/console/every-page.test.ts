/** Each page is looked at in a browser by a test. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGES } from '../../src/console/routes.tsx';
import { patternOf } from './browser.ts';

/** The paths in the tests that call `expectSound`: of pages, and of routes. A value in a path, such as an id, is `x`. */
function pathsInTests(): readonly string[] {
  const folder = import.meta.dirname;
  const files = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
  const texts = files.filter((text) => text.includes(' expectSound(')).join('\n');
  const filled = texts.replaceAll(/\$\{[^}]*\.url\}/g, '').replaceAll(/\$\{[^}]*\}/g, 'x');
  return [...filled.matchAll(/['`](\/[^'`?#\n]*)/g)].map(([, path = '']) => path);
}

test('every page of the console is opened by a test in a browser', () => {
  const paths = pathsInTests();
  const unseen = PAGES.filter(({ path }) => !paths.some((one) => one === path || patternOf(path).test(one)));
  expect(unseen.map(({ path }) => path)).toEqual([]);
});
