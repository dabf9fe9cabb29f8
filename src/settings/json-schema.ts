/**
 * The settings file's JSON Schema, for editors: config/lockstep.schema.json is generated from it by
 * `lockstep settings schema > config/lockstep.schema.json`.
 */
import { z } from 'zod';
import { settingsFile } from './schema.ts';

/** Draft 7, the one that YAML editors understand. */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'Lockstep settings' };
}

/** The text of the generated file. */
export function renderJsonSchema(): string {
  return `${JSON.stringify(settingsJsonSchema(), undefined, 2)}\n`;
}
