/** A message about a problem, as the outbox keeps it and channels send it, and its text. */
import { z } from 'zod';
import { capital, ended, shortened } from '../../base/texts.ts';
import { ALERT_EVENTS, type AlertEvent } from '../../settings/schema-alert.ts';
import { pageAbout } from '../page-paths.ts';
import { aboutOf, type Problem } from './problem.ts';

/** Stable, because receivers read it. */
export const alertMessage = z.object({
  state: z.enum(['opened', 'recovered', 'test']),
  event: z.enum([...ALERT_EVENTS, 'test']),
  /** One line, such as `nightly-contacts: run failed`. */
  title: z.string(),
  /** What happened, in sentences. */
  text: z.string(),
  /** The code of the reason. */
  cause: z.string(),
  /** ISO 8601, in UTC. */
  since: z.string(),
  /** The command to look or act, to copy; empty for a test. */
  command: z.string(),
  /** The page of the console about it, if the settings have the address of the console. */
  page: z.string().optional(),
  sync: z.string().optional(),
  run: z.string().optional(),
  account: z.string().optional(),
  target: z.string().optional(),
});
export type AlertMessage = z.infer<typeof alertMessage>;

export const EVENT_WORDS: Readonly<Record<AlertEvent, string>> = {
  'run-failed': 'run failed',
  'run-paused': 'run paused',
  'awaits-approval': 'run waits for approval',
  'needs-review': 'rows need a person',
  'audit-violation': 'an audit found a violation',
  'no-rows': 'no rows found',
  'sync-late': 'did not start',
  'account-suspended': 'suspended',
  'service-down': 'the service does not work',
  'target-failing': 'deliveries fail',
  'target-disabled': 'disabled',
};

/** Adds to a command, without `lockstep`, what this process was started with. */
export type Complete = (command: string) => string;

const MAX_TEXT_LENGTH = 1_500;

/** The message that a problem exists. `consoleUrl`: see `page`. */
export async function openedMessage(
  problem: Problem,
  since: Date,
  complete: Complete,
  consoleUrl?: string,
): Promise<AlertMessage> {
  const { event, subject, what, why, cause, command, sync, run, account, target } = problem;
  const detail = (await problem.detail?.()) ?? '';
  return {
    state: 'opened',
    event,
    title: `${subject}: ${EVENT_WORDS[event]}`,
    text: plain(`${ended(capital(`${what}: ${why}`))} ${detail}`, complete),
    cause,
    since: since.toISOString(),
    command: complete(command),
    page: consoleUrl && `${consoleUrl}${pageAbout(aboutOf(problem))}`,
    sync,
    run,
    account,
    target,
  };
}

export function recoveredMessage(opened: AlertMessage, goneAt: Date): AlertMessage {
  const lasted = `It lasted from ${timeWords(opened.since)} to ${timeWords(goneAt.toISOString())}.`;
  return { ...opened, state: 'recovered', text: `${lasted} It was: ${opened.text}` };
}

export function testMessage(now: Date): AlertMessage {
  const text = 'This is a test. Alerts of Lockstep arrive here.';
  const since = now.toISOString();
  return { state: 'test', event: 'test', title: 'Lockstep: test', text, cause: 'TEST', since, command: '' };
}

/** `nightly-contacts: run failed`, `Recovered: nightly-contacts: run failed`. */
export function subjectLine({ state, title }: AlertMessage): string {
  return state === 'recovered' ? `Recovered: ${title}` : title;
}

export function bodyLines({ state, text, since, command, page }: AlertMessage): readonly string[] {
  if (state !== 'opened') return [text];
  return [text, `Since: ${timeWords(since)}`, `What to do: ${command}`, ...(page ? [`In the console: ${page}`] : [])];
}

function timeWords(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/**
 * On one line. What a service said may contain e-mail addresses and phone numbers of its records: they are left out. Commands
 * get the options of this process.
 */
function plain(text: string, complete: Complete): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .replaceAll(/[^\s@"'<>(]+@[^\s@"'<>),;]+\.[\p{L}\d]{2,}/gu, '(address)')
    .replaceAll(/\+\d[\d ()./-]{6,}\d/g, '(number)')
    .replaceAll(/`lockstep ([^`]+)`/g, (_, command: string) => `\`${complete(command)}\``);
  return shortened(line, MAX_TEXT_LENGTH);
}
