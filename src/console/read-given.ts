/** What a request gives: its address, and the fields of its form or the members of its body. */
import type { z } from 'zod';
import { explainIssue } from '../settings/issues.ts';

/** @throws ZodError with messages for people */
export function readGiven<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  return schema.parse(given, { error: explainIssue });
}
