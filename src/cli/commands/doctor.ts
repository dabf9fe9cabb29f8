/** `lockstep doctor`: finds out how an account's service behaves where its contract says nothing, and can save the result. */
import type { Command } from 'commander';
import { LockstepError } from '../../base/errors.ts';
import { EMBEDDED } from '../../engine/account/account.ts';
import { keepCutOff } from '../../engine/account/cut-off.ts';
import { forgetShapes } from '../../engine/account/shapes.ts';
import { keepLearnt } from '../../engine/ledger/learnt.ts';
import { scopeNamed } from '../../engine/ledger/scopes.ts';
import { attention, examine, type Report } from '../../operator/doctor/examine.ts';
import type { ProbedAccount } from '../../operator/doctor/probed-account.ts';
import { plural } from '../../operator/words.ts';
import { saveAccount } from '../../settings/save-dialect.ts';
import { accountNamed } from '../../settings/settings.ts';
import { reportLines, settingLines } from '../doctor-report.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode, FAILED, WRONG_USE } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import type { Workspace } from '../wire.ts';

interface DoctorOptions {
  readonly account: string;
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
    .requiredOption('--account <name>', 'account in the settings')
    .option(
      '--write-probes',
      'also write one test contact, customer and task, to see how creating, importing and completing answer; they remain ' +
        'until you remove them, because the API cannot delete',
    )
    .option('--all', 'print every finding, not only the verdict and what needs a person')
    .option('--save', 'write certain findings into the settings file, and save the report in the ledger')
    .addHelpText(
      'after',
      `
How to read the report: it begins with the verdict and what needs a person. With --all, each line is a gap in the
documentation, with the finding and its confidence; a line that begins with ! needs a person.

Examples:
  $ lockstep doctor --account acme                    only examine
  $ lockstep doctor --account acme --all              and print every finding
  $ lockstep doctor --account acme --save             and save certain findings in the settings
  $ lockstep doctor --account test --write-probes     with test records; use a test workspace
  $ lockstep doctor --account acme --json | tail -1 | jq .settings`,
    )
    .action(perform(doctor));
}

async function doctor(session: Session, options: DoctorOptions): Promise<ExitCode> {
  const { out } = session;
  const settings = await session.settings();
  accountNamed(settings, options.account); // reports a misspelt name before a database is opened
  const signal = session.untilStopped('Stopping after this call. Press Ctrl-C again to stop at once.');
  const workspace = await session.openWorkspace();
  const report = await examine(await probedAccount(workspace, options.account), {
    writes: options.writeProbes === true,
    signal,
    onProgress: ({ probe, step, steps, calls }) =>
      out.live(`examining ${probe} · ${step} of ${steps} · ${plural(calls, 'call')}`),
  });
  if (report.stopped === undefined) await keepFindings(workspace, report);
  const all = { all: options.all === true, hint: session.hint(`doctor --account ${options.account} --all`) };
  out.say(...reportLines(report, all));
  if (options.save !== true) suggest(session, report, options.account);
  const saved = options.save === true ? await save(session, workspace, report) : undefined;
  out.result(saved === undefined ? report : { ...report, saved });
  if (saved?.status === 'refused') return WRONG_USE;
  if (report.stopped !== undefined) return FAILED;
  return attention(report).length > 0 ? DONE_WITH_PROBLEMS : DONE;
}

/** What the next runs use: they learn the shapes of answers again, and know which lists are cut off. */
async function keepFindings({ database: { pool } }: Workspace, { account, findings }: Report): Promise<void> {
  const scope = await scopeNamed(pool, account);
  await forgetShapes(pool, scope);
  for (const kind of ['customers', 'orders'] as const) {
    await keepCutOff(pool, scope, kind, findings.find(({ cutsOff }) => cutsOff === kind)?.found);
  }
}

async function probedAccount({ accounts, settings }: Workspace, name: string): Promise<ProbedAccount> {
  const { prefix, authorization, budget } = accountNamed(settings, name);
  const { baseUrl, client, dialect, concurrency, timeoutMs, settleMs, keySource, ...account } =
    await accounts.inspect(name);
  const hasAuthorization = authorization !== undefined;
  const ratePerSecond = budget.mode === 'discover' ? undefined : account.ratePerSecond;
  const pace = { ratePerSecond, concurrency, timeoutMs, settleMs };
  return {
    name,
    baseUrl,
    isEmbedded: account.service === EMBEDDED,
    client,
    prefix,
    dialect,
    hasAuthorization,
    keySource,
    ...pace,
  };
}

function suggest({ out, hint }: Session, report: Report, account: string): void {
  const lines = settingLines(report);
  const command = hint(`doctor --account ${account} --save`);
  if (lines.length > 0) out.say('', `Settings for these findings (${command} writes them):`, ...lines);
}

type Kept =
  | { readonly status: 'saved'; readonly file: string; readonly changed: readonly string[] }
  /** The report is still valid, and is saved in the ledger. */
  | { readonly status: 'refused'; readonly message: string };

async function save({ out }: Session, { database, settings }: Workspace, report: Report): Promise<Kept> {
  const { account } = report;
  await keepLearnt(database.pool, await scopeNamed(database.pool, account), 'doctor', report);
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
