/**
 * Checks that span sections: names that must exist elsewhere in the file, and keys that another key makes necessary.
 * They read the raw document, so that they report beside the schema's findings instead of after they are repaired.
 */
import type { Finding } from './issues.ts';
import { didYouMean, oneOf, quote } from './words.ts';

type Entries = ReadonlyMap<string, unknown>;

export function checkReferences(document: unknown): Finding[] {
  const file = entriesOf(document);
  const accounts = entriesOf(file.get('accounts'));
  const targets = entriesOf(file.get('targets'));
  return [
    ...checkSyncs(entriesOf(file.get('syncs')), accounts, targets),
    ...checkTargets(targets, accounts),
    ...checkKeys(accounts, entriesOf(file.get('service')).get('url') ?? 'embedded'),
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
      if (typeof target !== 'string') continue;
      const path = ['syncs', name, 'targets', index];
      if (!targets.has(target)) findings.push(unknownName(path, 'target', target, targets));
      else if (account !== undefined && accountOf(targets.get(target)) === account)
        findings.push(ownAccount(path, target));
    }
    findings.push(...checkPoll(name, sync, targets));
  }
  return findings;
}

/** What is read must be told as well, and have something to read. */
function checkPoll(name: string, sync: Entries, targets: Entries): Finding[] {
  const own = sync.get('targets');
  const poll = entriesOf(sync.get('options')).get('poll');
  const findings: Finding[] = [];
  for (const [index, target] of Array.isArray(poll) ? poll.entries() : []) {
    if (typeof target !== 'string') continue;
    const path = ['syncs', name, 'options', 'poll', index];
    const isOwn = Array.isArray(own) && own.includes(target);
    if (!isOwn) {
      findings.push({ path, message: `${quote(target)} is not among the targets of this sync`, part: 'value' });
      continue;
    }
    const type = entriesOf(targets.get(target)).get('type');
    if (type !== 'webhook' && type !== 'postgres') continue;
    const message = `a target of the type ${type} has no items that could be read: leave ${quote(target)} out of poll`;
    findings.push({ path, message, part: 'value' });
  }
  return findings;
}

function checkTargets(targets: Entries, accounts: Entries): Finding[] {
  return [...targets].flatMap(([name, value]) => {
    const account = accountOf(value);
    const isKnown = typeof account !== 'string' || accounts.has(account);
    return isKnown ? [] : [unknownName(['targets', name, 'account'], 'account', account, accounts)];
  });
}

/** Of a target that is an account of the service, that account. */
function accountOf(value: unknown): unknown {
  const target = entriesOf(value);
  return target.get('type') === 'service' ? target.get('account') : undefined;
}

function ownAccount(path: Finding['path'], target: string): Finding {
  const message = `${quote(target)} is the account that this sync reads, whose tasks would be mirrored into themselves: name another account in the target or the sync`;
  return { path, message, part: 'value' };
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

function entriesOf(value: unknown): Entries {
  return new Map(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []);
}
