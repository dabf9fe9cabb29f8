/** What differs between two readings of the settings, by name, and what of it a running process can take over. */
import { Hidden } from './hidden.ts';
import type { Settings } from './settings.ts';

export interface SettingsChanges {
  readonly accounts: SectionChanges;
  readonly syncs: SectionChanges;
  readonly targets: SectionChanges;
  readonly alerts: SectionChanges;
  /** Whether anything of these sections has changed. */
  readonly isAny: boolean;
  /** Keys that a process reads only when it starts. */
  readonly needRestart: readonly string[];
}

export interface SectionChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Read only when a process starts. */
const AT_START = ['database', 'redis', 'worker', 'console', 'health'] as const;

export function changesBetween(before: Settings, after: Settings): SettingsChanges {
  const sections = {
    accounts: changesOf(before.accounts, after.accounts),
    syncs: changesOf(before.syncs, after.syncs),
    targets: changesOf(before.targets, after.targets),
    alerts: changesOf(before.alerts, after.alerts),
  };
  return {
    ...sections,
    isAny: Object.values(sections).some((kinds) => Object.values(kinds).some((names) => names.length > 0)),
    needRestart: AT_START.filter((key) => !isSame(before[key], after[key])),
  };
}

/** `after`, with what a process reads only when it starts as it is in `before`. */
export function takeable(before: Settings, after: Settings): Settings {
  return { ...after, ...Object.fromEntries(AT_START.map((key) => [key, before[key]])) };
}

function changesOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): SectionChanges {
  const names = Object.keys(after);
  return {
    added: names.filter((name) => !Object.hasOwn(before, name)),
    changed: names.filter((name) => Object.hasOwn(before, name) && !isSame(before[name], after[name])),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return revealed(one) === revealed(other);
}

/** As JSON, with secrets; for a comparison only. */
function revealed(value: unknown): string {
  return JSON.stringify({ value }, function (this: Record<string, unknown>, key, shown) {
    const held = this[key];
    return held instanceof Hidden ? held.reveal() : shown;
  });
}
