/** Redis for the suites that need one. */
import { describe, inject } from 'vitest';

/** The run's Redis; undefined if there is none (REDIS_URL, or redis-server or valkey-server on the PATH). */
export function redisForTests(): { readonly url: string } | undefined {
  const url = inject('redisUrl');
  return url === null ? undefined : { url };
}

/** A `describe` whose suite exists only if Redis does; otherwise the setup of the run has reported that it is missing. */
export function describeWithRedis(name: string, suite: (redis: { readonly url: string }) => void): void {
  const redis = redisForTests();
  if (redis) describe(name, () => suite(redis));
}
