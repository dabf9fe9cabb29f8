/** `lockstep doctor`: finds out how an account's service answers where its contract is silent, and may keep it. */
import type { Command } from 'commander';
import { attention, examine, type Report } from '../../doctor/examine.ts';
import type { ProbedAccount } from '../../doctor/probe.ts';
import { keepLearnt } from '../../engine/ledger/learnt.ts';
import { scopeNamed } from '../../engine/ledger/scopes.ts';
import { LockstepError } from '../../errors.ts';
import { type Change, saveAccount } from '../../settings/save-dialect.ts';
import { accountNamed } from '../../settings/settings.ts';
import { forgetShapes } from '../../worker/shapes.ts';
import { reportLines, settingLines } from '../doctor-report.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode, FAILED, WRONG_USE } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import type { Workspace } from '../wire.ts';
import { plural } from '../words.ts';

interface DoctorOptions {
  readonly account: string;
  readonly writeProbes?: boolean;
  readonly save?: boolean;
}

export function addDoctor(program: Command, perform: Perform): void {
  program
    .command('doctor')
    .summary('find out how a live service behaves')
    .description(
      'Examines the service of an account and says what it found: whether the address and the key work, under which ' +
        'prefix what answers, where lists and ids stand, how pages are counted, whether lists come whole and in a stable ' +
        'order, and whatever else the documentation leaves open. It reads only, in at most 60 calls and a minute, within ' +
        'the account’s rate budget. Exits with 0 when all is well, 1 when something needs a person, 3 when the service ' +
        'could not be probed. A run that is paused because the service had changed its ' +
        'answers can be resumed afterwards: what was learnt of their form is learnt anew.',
    )
    .requiredOption('--account <name>', 'account in the settings')
    .option(
      '--write-probes',
      'also write: one test contact, customer and task, to see what creates answer and how imports and completing work; ' +
        'they stay there until you remove them, for the API deletes nothing',
    )
    .option('--save', 'write what is certain into the settings file, and keep the report in the ledger')
    .addHelpText(
      'after',
      `
How to read the report: each line is a gap of the documentation, with what was found and how sure that is. A line that
begins with ! needs a person; what to do stands at the end.

Examples:
  $ lockstep doctor --account acme                    look only
  $ lockstep doctor --account acme --save             and keep what is certain in the settings
  $ lockstep doctor --account test --write-probes     with test records, best in a workspace for testing
  $ lockstep doctor --account acme --json | tail -1 | jq .settings`,
    )
    .action(perform(doctor));
}

async function doctor(session: Session, options: DoctorOptions): Promise<ExitCode> {
  const { out } = session;
  const settings = await session.settings();
  accountNamed(settings, options.account); // a misspelt name needs no database to be told
  const signal = session.untilStopped('Stopping after this call; once more stops at once.');
  const workspace = await session.openWorkspace();
  const report = await examine(await probedAccount(workspace, options.account), {
    writes: options.writeProbes === true,
    signal,
    onProgress: ({ probe, step, steps, calls }) =>
      out.live(`looking at ${probe} · ${step} of ${steps} · ${plural(calls, 'call')}`),
  });
  if (report.stopped === undefined)
    await forgetShapes(workspace.database.pool, await scopeNamed(workspace.database.pool, options.account));
  out.say(...reportLines(report));
  if (options.save !== true) suggest(session, report, options.account);
  const saved = options.save === true ? await save(session, workspace, report) : undefined;
  out.result(saved === undefined ? report : { ...report, saved });
  if (saved?.status === 'refused') return WRONG_USE;
  if (report.stopped !== undefined) return FAILED;
  return attention(report).length > 0 ? DONE_WITH_PROBLEMS : DONE;
}

async function probedAccount({ accounts, settings }: Workspace, name: string): Promise<ProbedAccount> {
  const { prefix, authorization, budget } = accountNamed(settings, name);
  const { baseUrl, client, dialect, concurrency, timeoutMs, settleMs, keySource, ...account } =
    await accounts.inspect(name);
  const hasAuthorization = authorization !== undefined;
  const ratePerSecond = budget.mode === 'discover' ? undefined : account.ratePerSecond;
  const pace = { ratePerSecond, concurrency, timeoutMs, settleMs };
  return { name, baseUrl, client, prefix, dialect, hasAuthorization, keySource, ...pace };
}

function suggest({ out, hint }: Session, report: Report, account: string): void {
  const lines = settingLines(report);
  const command = hint(`doctor --account ${account} --save`);
  if (lines.length > 0) out.say('', `Settings that say so outright (${command} writes them):`, ...lines);
}

type Kept =
  | { readonly status: 'saved'; readonly file: string; readonly changed: readonly string[] }
  /** The report stands all the same, and is kept in the ledger. */
  | { readonly status: 'refused'; readonly message: string };

async function save({ out }: Session, { database, settings }: Workspace, report: Report): Promise<Kept> {
  const { account } = report;
  await keepLearnt(database.pool, await scopeNamed(database.pool, account), 'doctor', report);
  try {
    const { file, changed } = await saveAccount(settings.file, account, changesIn(report));
    const where = `${file}, under accounts.${account}`;
    if (changed.length > 0) out.say('', `Written into ${where}:`, ...changed.map(changeLine));
    else out.say('', `There was nothing to change in ${where}: what is certain stands there already.`);
    return { status: 'saved', file, changed: changed.map(({ path }) => path.join('.')) };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    out.complain(`lockstep: ${error.message}`);
    return { status: 'refused', message: error.message };
  }
}

function changesIn({ account, settings }: Report): readonly Change[] {
  const within = `accounts.${account}.`;
  return Object.entries(settings).map(([path, value]) => ({ path: path.slice(within.length).split('.'), value }));
}

function changeLine({ path, value }: Change): string {
  return `  ${path.join('.')}: ${JSON.stringify(value)}`;
}
