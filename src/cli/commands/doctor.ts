/** `lockstep doctor`: finds out how an account's service behaves where its contract says nothing, and can save the result. */
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import type { Report } from '../../operator/doctor/examine.ts';
import { attention } from '../../operator/doctor/examine.ts';
import { examineAccount } from '../../operator/examination.ts';
import {
  askedLines,
  attentionOf,
  isUnprobed,
  leftLines,
  probedFindings,
  settingsYaml,
  verdictOf,
} from '../../operator/examination-words.ts';
import { saveAccount } from '../../settings/save-dialect.ts';
import { accountChosen, type Settings } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode, FAILED, WRONG_USE } from '../errors.ts';
import { styled } from '../print/colour.ts';
import type { Perform, Session } from '../session.ts';
import { ACCOUNT_WORDS } from './arguments.ts';

interface DoctorOptions {
  readonly account?: string;
  readonly writeProbes?: boolean;
  readonly save?: boolean;
  readonly all?: boolean;
}

export function define(command: Command, perform: Perform): void {
  command
    .description(
      'Examines the service of an account and reports what it found: whether the address and the key work, which path ' +
        'prefixes answer, where answers have their lists and ids, how pages are counted, whether lists are complete and in ' +
        'a stable order, and what else the documentation leaves open. It only reads, with at most 60 calls in under a ' +
        'minute, within the account’s rate budget. Exits with 0 if nothing needs a person, 1 if something does, and 3 if ' +
        'the service could not be examined. If a run is paused because the service changed the form of its answers, you ' +
        'can resume it afterwards: Lockstep then learns the form again.',
    )
    .option('--account <name>', ACCOUNT_WORDS)
    .option(
      '--write-probes',
      'also write one test contact, customer and task, to see how creating, importing and completing answer; they remain ' +
        'until you remove them, because the API cannot delete',
    )
    .option('--all', 'print every finding, not only the result and what needs a person')
    .option('--save', 'write certain findings into the settings file')
    .addHelpText(
      'after',
      `
How to read the report: it begins with the result and what needs a person. With
--all, each line is a gap in the documentation, with the finding and its
confidence; a line that begins with ! needs a person.

Examples:
  $ lockstep doctor --account acme                  only examine
  $ lockstep doctor --account acme --all            and print every finding
  $ lockstep doctor --account acme --save           and save certain findings
  $ lockstep doctor --account test --write-probes   use a test workspace
  $ lockstep doctor --account acme --json | tail -1 | jq .settings`,
    )
    .action(perform(doctor));
}

async function doctor(session: Session, options: DoctorOptions): Promise<ExitCode> {
  const { out } = session;
  const settings = await session.settings();
  const account = accountChosen(settings, options.account).name; // reports a misspelt name before a database is opened
  const signal = session.untilStopped('Stopping after this call. Press Ctrl-C again to stop at once.');
  const { database, accounts } = await session.openWorkspace();
  const report = await examineAccount({ pool: database.pool, settings, accounts }, account, {
    writes: options.writeProbes === true,
    signal,
    onProgress: ({ probe, step, steps, calls }) =>
      out.live(`examining ${probe} · ${step} of ${steps} · ${plural(calls, 'call')}`),
  });
  const all = { all: options.all === true, hint: session.hint(`doctor --account ${account} --all`) };
  out.say(...reportLines(report, all));
  if (options.save !== true) suggest(session, report, options);
  const saved = options.save === true ? await save(session, settings, report) : undefined;
  out.result(saved === undefined ? report : { ...report, saved });
  if (saved?.status === 'refused') return WRONG_USE;
  if (report.stopped !== undefined) return FAILED;
  return attention(report).length > 0 ? DONE_WITH_PROBLEMS : DONE;
}

function suggest({ out, hint }: Session, report: Report, { all = false }: DoctorOptions): void {
  const lines = settingLines(report);
  if (lines.length === 0) return;
  const command = hint(`doctor --account ${report.account} --save`);
  if (all) out.say('', `Settings for these findings (${command} writes them):`, ...lines);
  else out.say(`To save certain findings as settings: ${command}`);
}

type Kept =
  | { readonly status: 'saved'; readonly file: string; readonly changed: readonly string[] }
  /** The report is still valid, and is in the ledger. */
  | { readonly status: 'refused'; readonly message: string };

async function save({ out }: Session, settings: Settings, report: Report): Promise<Kept> {
  const { account } = report;
  const within = `accounts.${account}.`;
  const changes = Object.entries(report.settings).map(([path, value]) => ({
    path: path.slice(within.length).split('.'),
    value,
  }));
  try {
    const { file, changed } = await saveAccount(settings.file, account, changes);
    const where = `${file}, under accounts.${account}`;
    if (changed.length > 0)
      out.say(
        '',
        `Written into ${where}:`,
        ...changed.map(({ path, value }) => `  ${path.join('.')}: ${JSON.stringify(value)}`),
      );
    else out.say('', `Nothing to change in ${where}: it already has all certain findings.`);
    return { status: 'saved', file, changed: changed.map(({ path }) => path.join('.')) };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    out.complain(`lockstep: ${error.message}`);
    return { status: 'refused', message: error.message };
  }
}

/** Indents the second and later lines of a finding. */
const INDENT = '  ';

/** The result and what needs a person; with `all`, every finding too. */
function reportLines(report: Report, { all, hint }: { all: boolean; hint: string }): readonly string[] {
  const { tone, usable, rest } = verdictOf(report);
  return [
    `${styled(tone, usable)} ${rest}`.trimEnd(),
    ...askedLines(report),
    ...listed(
      'This needs a person:',
      attentionOf(report).map(({ about, needs }) => `${about}: ${needs}`),
    ),
    ...listed('These test records remain, because the API cannot delete. Remove them by hand:', leftLines(report)),
    '',
    ...(all ? findingsLines(report) : [`Every finding: ${hint}`]),
  ];
}

function settingLines(report: Report): readonly string[] {
  return settingsYaml(report)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [INDENT + line]));
}

function listed(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => INDENT + line)];
}

function findingsLines(report: Report): readonly string[] {
  const lines = probedFindings(report).flatMap(({ gap, kinds, found, confidence, does, needs }) => {
    const mark = needs === undefined ? ' ' : '!';
    const of = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`;
    return [`${mark} ${gap}${of}: ${found} [${confidence}]`, `${INDENT}${INDENT}the worker ${does}`];
  });
  const unprobed = report.findings.filter(isUnprobed);
  if (unprobed.length === 0) return lines;
  const rest = unprobed.flatMap(({ gap, found, does }) => [`  ${gap}: ${found}`, `${INDENT}${INDENT}${does}`]);
  return [...lines, '', 'Not determined, so the worker does what is safe:', ...rest];
}
