/** What a test can ask a harness for, and the settings that follow from it. */
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import type { FreshDatabase } from '../database.ts';

export interface Needs {
  /** Of the service, as the worker sees it. */
  readonly behaviour?: BehaviourOptions;
  /** The account's service, if it is not the harness's own. */
  readonly serviceUrl?: string;
  /** Puts `front` between the worker and the service. It passes few headers on. Default: false. */
  readonly hasFront?: boolean;
  /** YAML of the account beside url and apiKey, without braces. Default: a budget that limits nothing. */
  readonly account?: string;
  /** YAML of each further account beside its url, without braces. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** YAML of each sync beside its account, unless it names one, without braces. Default: the contact sync. */
  readonly syncs?: Readonly<Record<string, string>>;
  /** YAML of each target, without braces. */
  readonly targets?: Readonly<Record<string, string>>;
  /** YAML of each channel for alerts, without braces. */
  readonly alerts?: Readonly<Record<string, string>>;
  /** YAML of `retention`. */
  readonly retention?: string;
  readonly redisUrl?: string;
  /** The secrets of the settings beside TEST_KEY. */
  readonly env?: Readonly<Record<string, string>>;
  /** Closed with the harness. Default: a fresh one. */
  readonly database?: FreshDatabase;
}

export const BUDGET = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 5s, settle: 2s }';

/** The settings as YAML. `url`: the account's service; `prefix`: of the keys in Redis. */
export function settingsText({
  url,
  prefix,
  account = BUDGET,
  accounts = {},
  syncs = { contacts: 'job: contacts' },
  targets = {},
  alerts = {},
  retention = '{}',
  redisUrl = 'none',
}: Needs & { readonly url: string; readonly prefix: string }): string {
  return `
accounts:
  test: { url: "${url}", apiKey: { env: TEST_KEY }, ${account} }
${lines(accounts, `url: "${url}", `)}
redis: { url: "${redisUrl}", prefix: ${prefix} }
console: { listen: "127.0.0.1:0" }
retention: ${retention}
${section('syncs', syncs, 'account: test, ')}
${section('targets', targets)}
${section('alerts', alerts)}
`;
}

function section(name: string, entries: Readonly<Record<string, string>>, each = ''): string {
  return Object.keys(entries).length === 0 ? '' : `${name}:\n${lines(entries, each)}`;
}

function lines(entries: Readonly<Record<string, string>>, each: string): string {
  return Object.entries(entries)
    .map(([key, yaml]) => `  ${key}: { ${yaml.startsWith('account:') ? '' : each}${yaml} }`)
    .join('\n');
}
