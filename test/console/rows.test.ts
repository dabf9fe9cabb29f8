/** The page of the rows of a run that is too large to be searched at once. */
import { expect, test } from 'vitest';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { freshConsole } from './open-console.ts';

const { database, web } = await freshConsole();

/** As the script of the page reads it: the address that continues it. */
async function read(path: string) {
  const html = await (await fetch(web.url + path, { headers: { 'hx-request': 'true' } })).text();
  const [, next] = /hx-get="([^"]+)" hx-trigger="load"/.exec(html) ?? [];
  return { html, next: next?.replaceAll('&amp;', '&') };
}

test('says how far a search has looked, and continues by itself until a row matches', async () => {
  const run = await aRun(database);
  await database.pool.query(
    `insert into ledger.inputs (run_id, n, label) select $1, n, 'Person ' || n || repeat(' of a family with a long name', 40)
     from generate_series(1, 20000) n`,
    [run.id],
  );
  const path = `/runs/${run.id}/rows?text=person+19999`;
  let page = await read(path);
  expect(page.html).toMatch(/The search has reached row [\d,]+\./);
  expect(page.html).toContain('Search further');
  let reads = 1;
  for (; page.next !== undefined; reads++) page = await read(page.next);
  expect(reads).toBeGreaterThan(2);
  expect(page.html).toContain('Person 19999');
  expect(page.html).toContain('data-at="/runs/');
});
