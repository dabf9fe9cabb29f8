/**
 * Everything that the service's contract leaves open. Each gap has three answers: what our service does, how our client
 * handles other services, and the setting that overrides it.
 */
import type { Gap } from './gap.ts';
import { gapsInCalls } from './gaps-in-calls.ts';
import { gapsInRecords } from './gaps-in-records.ts';

export type { Gap } from './gap.ts';

export type GapId = (typeof gapsInRecords | typeof gapsInCalls)[number]['id'];

export const gaps: readonly Gap<GapId>[] = [...gapsInRecords, ...gapsInCalls];
