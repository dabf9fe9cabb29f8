/**
 * Checks that span sections: names that must exist elsewhere in the file, and keys that another key makes necessary.
 * They read the raw document, so their problems are reported together with the schema's.
 */
import path from 'node:path';
import type { Mistake } from './issues.ts';
import { didYouMean, oneOf, quote } from './message-parts.ts';
import { EVENT_TYPES } from './schema-target.ts';

type Entries = ReadonlyMap<string, unknown>;

/** `base`: the directory at which relative folders start. */
export function checkReferences(document: unknown, base: string): Mistake[] {
  const file = entriesOf(document);
  const accounts = entriesOf(file.get('accounts'));
  const targets = entriesOf(file.get('targets'));
  const syncs = entriesOf(file.get('syncs'));
  return [
    ...checkSyncs(syncs, accounts, targets),
    ...checkFolders(syncs, base),
    ...checkTargets(targets, accounts),
    ...checkAlerts(entriesOf(file.get('alerts')), syncs),
    ...checkKeys(accounts, entriesOf(file.get('service')).get('url') ?? 'embedded'),
  ];
}

function checkSyncs(syncs: Entries, accounts: Entries, targets: Entries): Mistake[] {
  return [...syncs].flatMap(([name, value]) => {
    const sync = entriesOf(value);
    const account = sync.get('account');
    const own = textsIn(sync.get('targets'));
    const isUnknown = typeof account === 'string' && !accounts.has(account);
    return [
      ...(isUnknown ? [unknownName(['syncs', name, 'account'], 'account', account, accounts)] : []),
      ...own.flatMap(({ text, index }) => {
        const path = ['syncs', name, 'targets', index];
        if (!targets.has(text)) return [unknownName(path, 'target', text, targets)];
        return account !== undefined && accountOf(targets.get(text)) === account ? [ownAccount(path, text)] : [];
      }),
      ...textsIn(entriesOf(sync.get('options')).get('poll')).flatMap(({ text, index }) => {
        const isOwn = own.some((target) => target.text === text);
        const message = isOwn ? pollProblem(text, targets) : `${quote(text)} is not among the targets of this sync`;
        return message === undefined ? [] : [{ path: ['syncs', name, 'options', 'poll', index], message }];
      }),
    ];
  });
}

const WITHOUT_ITEMS: readonly unknown[] = [...EVENT_TYPES, 'postgres'];

/** A polled target must have items that can be read. */
function pollProblem(target: string, targets: Entries): string | undefined {
  const entries = entriesOf(targets.get(target));
  const type = entries.get('type');
  if (type === 'http' ? entries.has('items') : !WITHOUT_ITEMS.includes(type)) return undefined;
  return `a target of the type ${type} has no items that can be read: remove ${quote(target)} from poll`;
}

/** Where a sync keeps the files of its folder, beside the folder itself. */
const KEPT_IN = ['done', 'failed', '.lockstep-files'];

/** If two syncs watched one folder, it would be chance which of them loads a file, and into which account. */
function checkFolders(syncs: Entries, base: string): Mistake[] {
  const watched = [...syncs].flatMap(([name, sync]) => {
    const folder = entriesOf(entriesOf(sync).get('options')).get('folder');
    return typeof folder === 'string' ? [{ name, folder: path.resolve(base, folder) }] : [];
  });
  return watched.flatMap(({ name, folder }, at) => {
    const owner = watched.find((one, index) => {
      if (one.folder === folder) return index < at;
      return KEPT_IN.includes(path.relative(one.folder, folder).split(path.sep)[0] ?? '');
    });
    if (owner === undefined) return [];
    const why = owner.folder === folder ? 'watches this folder too' : 'keeps its files here';
    const message = `sync ${quote(owner.name)} ${why}: name another folder, because a folder belongs to one sync`;
    return [{ path: ['syncs', name, 'options', 'folder'], message }];
  });
}

function checkTargets(targets: Entries, accounts: Entries): Mistake[] {
  return [...targets].flatMap(([name, value]) => {
    const account = accountOf(value);
    const isKnown = typeof account !== 'string' || accounts.has(account);
    return isKnown ? [] : [unknownName(['targets', name, 'account'], 'account', account, accounts)];
  });
}

function checkAlerts(alerts: Entries, syncs: Entries): Mistake[] {
  return [...alerts].flatMap(([name, value]) =>
    textsIn(entriesOf(value).get('syncs')).flatMap(({ text, index }) =>
      syncs.has(text) ? [] : [unknownName(['alerts', name, 'syncs', index], 'sync', text, syncs)],
    ),
  );
}

/** If the target is an account of the service: that account. */
function accountOf(value: unknown): unknown {
  const target = entriesOf(value);
  return target.get('type') === 'service' ? target.get('account') : undefined;
}

function ownAccount(path: Mistake['path'], target: string): Mistake {
  const message = `target ${quote(target)} is the account that this sync reads, so its tasks would be mirrored into themselves: use another account in the target or the sync`;
  return { path, message };
}

function unknownName(path: Mistake['path'], kind: string, name: string, entries: Entries): Mistake {
  const names = [...entries.keys()];
  const known = names.length === 0 ? `no ${kind} is defined` : `${kind}s are ${oneOf(names)}`;
  const guess = didYouMean(name, names) || ` (${known})`;
  return { path, message: `no ${kind} is named ${quote(name)}${guess}` };
}

function checkKeys(accounts: Entries, serviceUrl: unknown): Mistake[] {
  return [...accounts].flatMap(([name, value]) => {
    const account = entriesOf(value);
    const url = account.get('url') ?? serviceUrl;
    if (typeof url !== 'string' || url === 'embedded' || account.has('apiKey')) return [];
    const message = 'missing: an account of a service that is not embedded needs a key, such as { env: NAME }';
    return [{ path: ['accounts', name, 'apiKey'], message }];
  });
}

function textsIn(list: unknown): readonly { readonly text: string; readonly index: number }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((text: unknown, index) => (typeof text === 'string' ? [{ text, index }] : []));
}

function entriesOf(value: unknown): Entries {
  return new Map(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []);
}
