import { mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** Whole commands and runs, processes, vendors and their exports, clocks, races, random cases and broken answers: what core, to run while working, leaves out. */
const LEFT_OUT = [
  'e2e/**/*',
  'jobs/**/*',
  'operator/doctor/**/*',
  'cli/run',
  'console/**/*',
  'operator/{alerts/*,run-actions}',
  'cli/{call,check-mapping,console-commands,data,doctor,health,ledger,links,roles,runs,runs-export,service-admin,status,syncs,targets,usage}',
  'client/budget/{concurrency,discovery,postgres-store,redis-store,set-clocks}',
  'client/call/{bad-bodies,reset}',
  'client/lists/scan-drift',
  'engine/create-protocol',
  'csv/{exports,hostile,reports,shop-exports}',
  'engine/account/{reads,same-tenant}',
  'engine/dispatch/conformance',
  'engine/ledger/{transitions,schedules-model,upgrade,retention/prune,matching/{*-property,recall-contacts}}',
  'engine/worker/*',
  'mirror/inbound/**/*',
  'mirror/links/named-items',
  'mirror/outbox/{command,details,failing-targets,order}',
  'mirror/targets/*',
  'mirror/tasks/new-items',
  'fuzz/*',
  'service/{batches,commits,connections,faults,lifecycle,tenant-matrix}',
  'settings/http-targets',
  'storage/embedded/**/*',
  'support/harness/*',
].map((files) => `test/${files}.test.ts`);

export default mergeConfig(all, { test: { exclude: LEFT_OUT } });
