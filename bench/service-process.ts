/**
 * The service in its own process, so that the figures are the worker's. Over IPC (see Ask) it starts with a behaviour,
 * seeds a fresh tenant for each trial, and reports what arrived.
 */
import type { BehaviourOptions } from '../src/service/testbed/behaviour.ts';
import { seedWorkspace } from '../src/service/testbed/seed.ts';
import { openDatabase } from '../src/storage/open.ts';
import { type CountedService, startCountedService } from '../test/support/traffic.ts';

export type Ask =
  | { readonly start: BehaviourOptions }
  | { readonly seed: { readonly name: string; readonly key: string; readonly contacts: number } }
  | { readonly traffic: true };

export interface Answer {
  readonly url?: string;
  readonly total?: number;
  readonly limited?: number;
  readonly worstSecond?: number;
  readonly activeMs?: number;
}

const database = await openDatabase({ url: 'embedded', dataDir: process.argv[2] ?? '', maxConnections: 20 });
let service: CountedService | undefined;

process.on('message', (ask: Ask) => {
  void answer(ask).then((told) => process.send?.(told));
});
process.once('disconnect', async () => {
  await service?.close();
  await database.close();
});
process.send?.({});

async function answer(ask: Ask): Promise<Answer> {
  if ('start' in ask) {
    await service?.close();
    service = await startCountedService({ pool: database.pool, behaviour: ask.start });
    return { url: service.url };
  }
  if ('seed' in ask) {
    await seedWorkspace(database.pool, { contacts: ask.seed.contacts, tenants: [ask.seed] });
    await database.pool.query('vacuum analyze');
    service?.traffic.reset();
    return {};
  }
  const counts = service?.traffic.counts();
  return {
    total: counts?.total ?? 0,
    limited: counts?.limited ?? 0,
    worstSecond: counts?.worstSecond ?? 0,
    activeMs: (counts?.lastAtMs ?? 0) - (counts?.firstAtMs ?? 0),
  };
}
