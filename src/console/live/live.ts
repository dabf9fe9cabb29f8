/** Open pages: each address is read once for all its viewers, and each viewer receives what has changed since it last looked. */
import { PassThrough, type Readable } from 'node:stream';

export type News =
  /** The page as it is now. `isStill`: it does not change by itself any more. */
  | { readonly html: string; readonly mark: string; readonly isStill: boolean }
  /** Another page follows. */
  | { readonly go: string }
  /** Why the page cannot be read now; it is read again. */
  | { readonly away: string };

/** A page that was just read, and when it is read again. */
export interface Reading {
  readonly news: News;
  readonly nextMs: number;
}

export interface ViewerSpec {
  /** The mark of the page that the viewer shows. */
  readonly seen: string;
  /** What the viewer receives instead, if it may not see the page any more. */
  readonly refusal: () => Promise<News | undefined>;
}

export interface Live {
  /** Server-sent events for one more viewer of a page. `read` never rejects; viewers with the same key share it. */
  follow(key: string, read: () => Promise<Reading>, viewer: ViewerSpec): Readable;
  /** Ends all streams. Resolves once nothing is read any more. */
  close(): Promise<void>;
}

interface Viewer {
  readonly stream: PassThrough;
  readonly refusal: ViewerSpec['refusal'];
  seen: string;
}

interface Watch {
  readonly viewers: Set<Viewer>;
  /** Whether a viewer has come since the last read began. */
  hasNew: boolean;
  /** Ends the pause before the next read. */
  wake: () => void;
}

export function createLive(): Live {
  const watches = new Map<string, Watch>();
  const underWay = new Set<Promise<void>>();

  async function work(key: string, watch: Watch, read: () => Promise<Reading>): Promise<void> {
    while (watch.viewers.size > 0) {
      watch.hasNew = false;
      const { news, nextMs } = await read();
      const event = newsEvent(news);
      await Promise.all([...watch.viewers].map((viewer) => tell(viewer, news, event)));
      if (!watch.hasNew && watch.viewers.size > 0) await pause(watch, nextMs);
    }
    watches.delete(key);
  }

  return {
    follow(key, read, { seen, refusal }) {
      const viewer: Viewer = { stream: new PassThrough(), refusal, seen };
      const known = watches.get(key);
      const watch = known ?? { viewers: new Set<Viewer>(), hasNew: false, wake: () => undefined };
      watch.viewers.add(viewer);
      watch.hasNew = true;
      watch.wake();
      viewer.stream.once('close', () => {
        watch.viewers.delete(viewer);
        if (watch.viewers.size === 0) watch.wake();
      });
      if (known === undefined) {
        watches.set(key, watch);
        const working = work(key, watch, read).finally(() => underWay.delete(working));
        underWay.add(working);
      }
      return viewer.stream;
    },
    async close() {
      for (const { viewers } of watches.values()) for (const { stream } of viewers) stream.destroy();
      await Promise.all(underWay);
    },
  };
}

async function pause(watch: Watch, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    watch.wake = resolve;
    timer = setTimeout(resolve, ms);
  });
  clearTimeout(timer);
}

/** A viewer that is slow to receive gets only the newest page. `event`: of what was read. */
async function tell(viewer: Viewer, read: News, event: string): Promise<void> {
  const news = 'away' in read ? read : ((await viewer.refusal()) ?? read);
  const { stream } = viewer;
  if (stream.destroyed || stream.writableNeedDrain) return;
  const isSeen = 'mark' in news && news.mark === viewer.seen;
  if ('mark' in news) viewer.seen = news.mark;
  stream.write(isSeen && !news.isStill ? newsEvent(undefined) : news === read ? event : newsEvent(news));
  if ('go' in news || ('mark' in news && news.isStill)) stream.end();
}

/** One server-sent event. Without news: the page was read, and is as it was. */
export function newsEvent(news: News | undefined): string {
  return `data: ${JSON.stringify(news ?? {})}\n\n`;
}
