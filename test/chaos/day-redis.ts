/** The Redis of a day, and what happens to it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../support/drawn-service.ts';
import { ask, startReplicated } from '../support/redis-nodes.ts';
import { LASTING, startOwnRedis } from '../support/redis-server.ts';

export interface DayRedis {
  /** Undefined: there is none. */
  readonly url: string | undefined;
  happenings(inBackground: (work: Promise<unknown>) => void): Readonly<Record<string, () => unknown>>;
  close(): Promise<void>;
}

/** On half of the days. It is killed and started again with its data, or emptied. */
export async function redisThatIsKilled(dir: string, { chance, int }: Random): Promise<DayRedis> {
  let redis = chance(0.5) ? await startOwnRedis(dir, LASTING) : undefined;
  const { url } = redis ?? {};
  return {
    url,
    happenings: (inBackground) => ({
      'Redis is emptied': () => redis && ask(redis.url, 'flushall'),
      'Redis is killed': async () => {
        const killed = redis;
        if (!killed) return;
        redis = undefined;
        await killed.close();
        const again = async () => {
          await delay(int(5_000));
          redis = await startOwnRedis(dir, LASTING, Number(new URL(killed.url).port));
        };
        inBackground(again());
      },
    }),
    close: async () => redis?.close(),
  };
}

/** Its master loses its replica, works for a second without it, and is killed. */
export async function redisThatFailsOver(dir: string): Promise<DayRedis> {
  const redis = await startReplicated(dir);
  return {
    url: redis.url,
    happenings: () => ({
      'Redis fails over': async () => {
        await redis.loseWrites();
        await delay(1_000);
        await redis.failOver();
      },
    }),
    close: redis.close,
  };
}
