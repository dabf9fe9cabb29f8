/** A limited service and its callers, each in its own process. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Caller, CallerFigures } from './caller-process.ts';
import type { Limit, LimitedAnswer, LimitedAsk } from './limited-process.ts';
import { figuresOf, run } from './processes.ts';

export interface LimitedBench {
  /** Restarts the service with a limit. */
  limit(limit: Limit): Promise<void>;
  traffic(): Promise<LimitedAnswer>;
  /** Processes that call at the same time with one new key; `first` applies to one of them only. */
  call(processes: number, caller: CallerOptions, first?: Pick<Caller, 'person'>): Promise<readonly CallerFigures[]>;
  close(): Promise<void>;
}

type CallerOptions = Pick<Caller, 'limits' | 'forMs' | 'saturating'> & Partial<Pick<Caller, 'keys'>>;

export async function openLimitedBench(): Promise<LimitedBench> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const service = run('limited-process', []);
  let [told] = (await once(service, 'message')) as [LimitedAnswer]; // safe: the process sends nothing else
  let keys = 0;
  const ask = async (question: LimitedAsk): Promise<LimitedAnswer> => {
    service.send(question);
    [told] = (await once(service, 'message')) as [LimitedAnswer];
    return told;
  };
  return {
    limit: async (limit) => void (await ask({ limit })),
    traffic: () => ask({ traffic: true }),
    async call(processes, options, first = {}) {
      const { REDIS_URL: redisUrl } = process.env;
      const key = `bench-${process.pid}-${++keys}`;
      const common: Caller = { url: told.url, key, keys: 1, dataDir, ...(redisUrl && { redisUrl }), ...options };
      const callers = Array.from({ length: processes }, (_, i) =>
        run('caller-process', [JSON.stringify(i === 0 ? { ...common, ...first } : common)]),
      );
      await Promise.all(callers.map((caller) => once(caller, 'message')));
      const figures = callers.map((caller) => figuresOf<CallerFigures>(caller));
      for (const caller of callers) caller.send('go');
      return Promise.all(figures);
    },
    async close() {
      service.disconnect();
      await once(service, 'exit');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
