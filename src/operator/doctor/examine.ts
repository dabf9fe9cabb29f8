/**
 * Examines an account's service: runs the probes one after the other and returns a finding for every gap, including gaps
 * that cannot be probed. A probe that fails does not stop the others.
 */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import type { Json } from '../../client/call/json.ts';
import { type Gap, type GapId, gaps } from '../../contract/gaps.ts';
import { type Caller, createCaller, NotProbed } from './caller.ts';
import { isAnswered, probedLists } from './lists.ts';
import { type Examination, type Finding, type LeftBehind, type Probe, unknown } from './probe.ts';
import type { ProbedAccount } from './probed-account.ts';
import { readingProbes, writingProbes } from './probes.ts';

export interface Report {
  readonly account: string;
  readonly baseUrl: string;
  /** Requests that were sent. */
  readonly calls: number;
  readonly durationMs: number;
  readonly findings: readonly Finding[];
  /** Settings from findings that are certain, by path. */
  readonly settings: Readonly<Record<string, Json>>;
  readonly leftBehind: readonly LeftBehind[];
  /** Why the examination stopped early, if it did. */
  readonly stopped?: string;
}

export interface ExamineOptions {
  readonly writes: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly probe: string;
  /** From 1. */
  readonly step: number;
  readonly steps: number;
  readonly calls: number;
}

const SECOND = 1_000;
/** The limit for the reading probes, and a second time for the writing probes. */
export const MAX_CALLS = 60;
const WITHIN_MS = 55 * SECOND;
const WRITING_WITHIN_MS = 120 * SECOND;
const LONGEST_CALL_MS = 10 * SECOND;

export async function examine(account: ProbedAccount, options: ExamineOptions): Promise<Report> {
  const startedAt = performance.now();
  const { signal } = options;
  const timeoutMs = Math.min(account.timeoutMs, LONGEST_CALL_MS);
  const allowance = { maxCalls: MAX_CALLS, timeoutMs, signal };
  const reading = createCaller(account.client, { ...allowance, withinMs: WITHIN_MS });
  const left = new Map<string, LeftBehind>();
  let stopped: string | undefined;
  const exam: Examination = {
    account,
    calls: reading,
    list: probedLists(account, reading),
    stop: (why) => {
      stopped ??= why;
    },
    marker: randomBytes(4).toString('hex'),
    leave: (record) => left.set(record.kind, record),
    written: {},
  };
  const probes = options.writes ? [...readingProbes, ...writingProbes] : readingProbes;
  const findings: Finding[] = [];
  let writing: Caller | undefined;
  for (const [index, probe] of probes.entries()) {
    if (stopped !== undefined) break;
    if (index >= readingProbes.length)
      writing ??= createCaller(account.client, { ...allowance, withinMs: WRITING_WITHIN_MS });
    const calls = reading.made() + (writing?.made() ?? 0);
    options.onProgress?.({ probe: probe.name, step: index + 1, steps: probes.length, calls });
    findings.push(...(await tryProbe(probe, { ...exam, calls: writing ?? reading })));
  }
  if (signal?.aborted) stopped ??= 'stopped by the user';
  if (stopped === undefined && !(await seesAnyList(exam))) stopped = 'no list could be read';
  const known = newest(findings);
  const all = [...known, ...unprobed(known, options.writes, stopped)];
  return {
    account: account.name,
    baseUrl: account.baseUrl,
    calls: reading.made() + (writing?.made() ?? 0),
    durationMs: Math.round(performance.now() - startedAt),
    findings: all,
    settings: settingsIn(all),
    leftBehind: [...left.values()],
    stopped,
  };
}

/** The findings that need a person. */
export function attention({ findings }: Report): readonly Finding[] {
  return findings.filter(({ needs }) => needs !== undefined);
}

async function tryProbe(probe: Probe, exam: Examination): Promise<readonly Finding[]> {
  try {
    return await probe.run(exam);
  } catch (error) {
    const isCutShort = error instanceof NotProbed;
    const why = isCutShort ? error.message : `the probe failed: ${messageOf(error)}`;
    const needs = isCutShort
      ? 'run the doctor again when the service is faster or the budget allows more calls'
      : 'report this: it is a defect';
    return probe.gaps.map((gap) => {
      const does = gaps.find(({ id }) => id === gap)?.clientDoes ?? 'works without this information';
      return unknown(gap, `not probed: ${why}`, does, { needs });
    });
  }
}

/** Lists are cached, so this makes no call for a list that was read already. */
async function seesAnyList({ list }: Examination): Promise<boolean> {
  for (const kind of ['contacts', 'customers', 'orders', 'tasks', 'pipelines'] as const) {
    const seen = await list(kind).catch(() => undefined);
    if (seen?.found !== undefined) return true;
    if (seen?.look && isAnswered(seen.look)) return true;
  }
  return false;
}

/** If two findings are about the same thing, the later one replaces the earlier one, because it is based on more calls. */
function newest(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [`${finding.gap} ${finding.about ?? ''}`, finding])).values()];
}

function unprobed(findings: readonly Finding[], writes: boolean, stopped: string | undefined): readonly Finding[] {
  const answered = new Set(findings.map(({ gap }) => gap));
  const byWriting = new Set(writingProbes.flatMap((probe) => probe.gaps));
  const byReading = new Set(readingProbes.flatMap((probe) => probe.gaps));
  const why = ({ id }: Gap<GapId>): string => {
    if (byWriting.has(id) && !writes) return 'not probed: needs --write-probes';
    if (byReading.has(id) || byWriting.has(id)) return `not probed: ${stopped ?? 'no record shows it'}`;
    return 'cannot be probed';
  };
  return gaps.filter(({ id }) => !answered.has(id)).map((gap) => unknown(gap.id, why(gap), gap.clientDoes));
}

/** If two findings set the same setting, the later one wins. */
function settingsIn(findings: readonly Finding[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    findings.flatMap(({ confidence, setting }) =>
      confidence === 'certain' && setting ? [[setting.path, setting.value]] : [],
    ),
  );
}
