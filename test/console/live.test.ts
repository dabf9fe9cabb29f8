/** Open pages, which receive what changes. */
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLive, type Live, type News } from '../../src/console/live/live.ts';

let live: Live;
beforeEach(() => {
  vi.useFakeTimers();
  live = createLive();
});
afterEach(async () => {
  await live.close();
  vi.useRealTimers();
});

const EVERY_MS = 1_000;
const pageOf = (mark: string): News => ({ mark, html: `<p>${mark}</p>`, isStill: false });

/** A page that tests change; counts how often it is read. */
function aPage() {
  let news = pageOf('first');
  let reads = 0;
  const read = async () => {
    reads += 1;
    return { news, nextMs: EVERY_MS };
  };
  return {
    reads: () => reads,
    change: (to: News) => {
      news = to;
    },
    /** Opens it, as a viewer that shows `seen`. */
    open: async (seen = '', refusal: () => Promise<News | undefined> = async () => undefined) => {
      const stream = live.follow('operator /runs/run-1', read, { seen, refusal });
      const told = eventsOf(stream);
      await pass(0);
      return { stream, told };
    },
  };
}

function eventsOf(stream: Readable): News[] {
  const events: News[] = [];
  stream.on('data', (chunk: Buffer) => events.push(JSON.parse(chunk.toString().replace(/^data: /, ''))));
  return events;
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('ten viewers of a page share each read of it', async () => {
  const page = aPage();
  const viewers = await Promise.all(Array.from({ length: 10 }, () => page.open()));
  const before = page.reads();
  page.change(pageOf('second'));
  await pass(EVERY_MS);
  expect(page.reads()).toBe(before + 1);
  for (const { told } of viewers) expect(told.at(-1)).toEqual(pageOf('second'));
});

test('a page that has not changed is not sent again, also not to a viewer who comes back', async () => {
  const page = aPage();
  const { told } = await page.open('first');
  await pass(EVERY_MS);
  expect(told).toEqual([{}, {}]);
  page.change(pageOf('second'));
  const back = await page.open('first');
  expect(back.told).toEqual([pageOf('second')]);
  expect(told.at(-1)).toEqual(pageOf('second'));
});

test('is not read without a viewer', async () => {
  const page = aPage();
  const { stream } = await page.open();
  stream.destroy();
  await pass(0);
  const before = page.reads();
  await pass(10 * EVERY_MS);
  expect(page.reads()).toBe(before);
  expect((await page.open()).told).toEqual([pageOf('first')]);
});

test('a viewer who may not see it any more is led away; the others stay', async () => {
  const page = aPage();
  let isSignedIn = true;
  const left = await page.open('', async () => (isSignedIn ? undefined : { go: '/login' }));
  const stays = await page.open();
  isSignedIn = false;
  page.change(pageOf('second'));
  await pass(EVERY_MS);
  expect(left.told.at(-1)).toEqual({ go: '/login' });
  expect(left.stream.readableEnded).toBe(true);
  expect(stays.told.at(-1)).toEqual(pageOf('second'));
});

test('ends for all viewers once nothing on it changes any more', async () => {
  const page = aPage();
  const { told, stream } = await page.open();
  page.change({ mark: 'last', html: '', isStill: true });
  await pass(EVERY_MS);
  expect(told.at(-1)).toMatchObject({ mark: 'last' });
  expect(stream.readableEnded).toBe(true);
});

test('a viewer who does not take what is sent gets the newest page, not all of them', async () => {
  let reads = 0;
  const read = async () => ({ news: pageOf(`${reads++}`.padEnd(100_000)), nextMs: EVERY_MS });
  const stream = live.follow('operator /', read, { seen: '', refusal: async () => undefined });
  await pass(10 * EVERY_MS);
  const told = eventsOf(stream);
  await pass(EVERY_MS);
  expect(reads).toBeGreaterThan(10);
  expect(told.map((news) => 'mark' in news && Number(news.mark))).toEqual([0, reads - 1]);
});
