/** The network of a day: one worker reaches Postgres over TCP, as from another host, which is lost at random. */
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { unlessMissing } from '../../src/base/errors.ts';
import type { Random } from '../support/drawn-service.ts';
import { startProxyTo } from '../support/tcp-proxy.ts';

/** Claims hold for 30 s, and Postgres ends a transaction of a lost host after 60 s. */
const LOST_MS = [2_000, 35_000, 70_000];

export interface DayNetwork {
  /** The environment of the worker on the other host. */
  env(): Record<string, string>;
  happenings(inBackground: (work: Promise<unknown>) => void): Readonly<Record<string, () => unknown>>;
  close(): Promise<void>;
}

export async function networkOf(cwd: string, { pick }: Random): Promise<DayNetwork> {
  const inside = (name: string) => {
    try {
      return readFileSync(path.join(cwd, '.lockstep/postgres', name), 'utf8');
    } catch (error) {
      return unlessMissing(error) ?? '';
    }
  };
  // Each start of Postgres has a socket of its own. Without one, the connection is refused.
  const network = await startProxyTo(() =>
    net.connect(`${inside('data/postmaster.pid').split('\n')[4]}/.s.PGSQL.5432`),
  );
  const { host, port } = network.address;
  return {
    env: () => ({ DATABASE_URL: `postgres://lockstep:${inside('password').trim()}@${host}:${port}/postgres` }),
    happenings: (inBackground) => ({
      'a host is lost': () => {
        if (network.isHostLost()) return false;
        network.loseHost();
        const back = () => {
          network.restore();
          network.giveUp();
          network.refuseLost();
        };
        inBackground(delay(pick(LOST_MS)).then(back));
        return true;
      },
    }),
    close: network.close,
  };
}
