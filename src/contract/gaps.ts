/**
 * Everything the service's contract leaves open, and three answers to each: what our service does, how the client finds
 * out what another service does, and the setting that says so outright.
 */
import type { Gap } from './gap.ts';
import { gapsInCalls } from './gaps-in-calls.ts';
import { gapsInRecords } from './gaps-in-records.ts';

export type { Gap } from './gap.ts';

export const gaps: readonly Gap[] = [...gapsInRecords, ...gapsInCalls];
