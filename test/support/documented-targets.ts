/** The targets that the documentation and config/targets show, as the settings read them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SettingsOf, TargetSettings } from '../../src/settings/schema-target.ts';
import { targetNamed } from '../../src/settings/settings.ts';
import { settingsOf } from '../settings/problems-in.ts';

const root = path.join(import.meta.dirname, '../..');

const textsIn = (folder: string) =>
  readdirSync(path.join(root, folder)).map((file) => readFileSync(path.join(root, folder, file), 'utf8'));
export const EXAMPLES: readonly string[] = [
  ...textsIn('docs/targets').flatMap((page) =>
    [...page.matchAll(/```yaml\n(targets:[\s\S]*?)```/g)].map(([, text = '']) => text),
  ),
  ...textsIn('config/targets'),
];

/** For settings that consist of these and an example. */
export const ACCOUNTS = 'accounts: { demo: {}, branch: {} }\n';

export function exampleOf(name: string): string {
  return EXAMPLES.find((one) => one.includes(`\n  ${name}:\n`)) ?? '';
}

const documented = new Map<string, TargetSettings>();

/** The target of this name in the examples. */
export function documentedTarget<Type extends TargetSettings['type']>(type: Type, name: string): SettingsOf<Type> {
  const target = documented.get(name) ?? targetNamed(settingsOf(`${ACCOUNTS}${exampleOf(name)}`), name);
  documented.set(name, target);
  if (target.type !== type) throw new Error(`${name} is of the type ${target.type}`);
  return target as SettingsOf<Type>; // safe: its type was compared
}
