/**
 * Checks that span sections: names that must exist elsewhere in the file, and keys that another key makes necessary.
 * They read the raw document, so that they report beside the schema's findings instead of after they are repaired.
 */
import { isLoopback, parseListenAddress } from './fields.ts';
import type { Finding } from './issues.ts';
import { didYouMean, oneOf, quote } from './words.ts';

type Entries = ReadonlyMap<string, unknown>;

export function checkReferences(document: unknown): Finding[] {
  const file = entriesOf(document);
  const accounts = entriesOf(file.get('accounts'));
  const targets = entriesOf(file.get('targets'));
  return [
    ...checkSyncs(entriesOf(file.get('syncs')), accounts, targets),
    ...checkKeys(accounts, entriesOf(file.get('service')).get('url') ?? 'embedded'),
    ...checkConsole(entriesOf(file.get('console'))),
  ];
}

function checkSyncs(syncs: Entries, accounts: Entries, targets: Entries): Finding[] {
  const findings: Finding[] = [];
  for (const [name, value] of syncs) {
    const sync = entriesOf(value);
    const account = sync.get('account');
    if (typeof account === 'string' && !accounts.has(account)) {
      findings.push(unknownName(['syncs', name, 'account'], 'account', account, accounts));
    }
    const wanted = sync.get('targets');
    for (const [index, target] of Array.isArray(wanted) ? wanted.entries() : []) {
      if (typeof target !== 'string' || targets.has(target)) continue;
      findings.push(unknownName(['syncs', name, 'targets', index], 'target', target, targets));
    }
  }
  return findings;
}

function unknownName(path: Finding['path'], kind: string, name: string, entries: Entries): Finding {
  const names = [...entries.keys()];
  const known = names.length === 0 ? `no ${kind} is defined` : `${kind}s are ${oneOf(names)}`;
  const guess = didYouMean(name, names) || ` (${known})`;
  return { path, message: `no ${kind} is named ${quote(name)}${guess}`, part: 'value' };
}

function checkKeys(accounts: Entries, serviceUrl: unknown): Finding[] {
  const findings: Finding[] = [];
  for (const [name, value] of accounts) {
    const account = entriesOf(value);
    const url = account.get('url') ?? serviceUrl;
    if (typeof url !== 'string' || url === 'embedded' || account.has('apiKey')) continue;
    const message = 'missing: a service that is not embedded needs the key of the account, such as { env: NAME }';
    findings.push({ path: ['accounts', name, 'apiKey'], message, part: 'value' });
  }
  return findings;
}

function checkConsole(console: Entries): Finding[] {
  const listen = console.get('listen');
  const address = typeof listen === 'string' ? parseListenAddress(listen) : undefined;
  if (address === undefined || isLoopback(address.host) || console.has('password')) return [];
  const message = 'listening beyond this machine needs console.password; or listen on 127.0.0.1';
  return [{ path: ['console', 'listen'], message, part: 'value' }];
}

function entriesOf(value: unknown): Entries {
  return new Map(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []);
}
