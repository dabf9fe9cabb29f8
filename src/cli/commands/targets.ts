/** `lockstep targets …`: checks targets, and sets up the webhooks that report their changes. */
import type pg from 'pg';
import { wrongUse } from '../../base/errors.ts';
import type { CallContext, Finding, HookAdmin, Target } from '../../contract/target.ts';
import { checkTargets, testTarget } from '../../operator/target-check.ts';
import { arrangeHook, hookAddress, listHooks } from '../../operator/target-hooks.ts';
import { baseUrl, isLoopback } from '../../settings/fields.ts';
import { quote } from '../../settings/message-parts.ts';
import { targetNamed } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode } from '../errors.ts';
import { styled } from '../print/colour.ts';
import type { Perform, Session } from '../session.ts';

interface HookOptions {
  readonly url?: string;
  readonly renew?: boolean;
  readonly remove?: boolean;
  readonly dryRun?: boolean;
}

export function define(targets: Command, perform: Perform): void {
  targets.description('Checks and tests targets, and sets up the webhooks that report changes made there.').examples(`
  $ lockstep targets check              check all targets
  $ lockstep targets test ops-hook      send a test message
  $ lockstep targets hook our-issues    list the webhooks that call this target
  $ lockstep targets hook our-issues --url https://lockstep.example.com`);
  targets
    .command('check')
    .summary('check targets against the outside systems, without writing')
    .description(
      'Checks the token, the project, repository or team, the permissions, and the statuses and fields that the settings ' +
        'name. It only reads. Exits with 1 if there is a problem.',
    )
    .argument('[target]', 'target in the settings; default: all targets')
    .action(perform(check));
  targets
    .command('test')
    .summary('send a test message to a webhook or a chat')
    .description(
      'Sends one signed message that is about no task, at once, also if the target is disabled. Its type is `test`, or ' +
        '`lockstep.test` in a CloudEvent. Exits with 1 if it was not accepted.',
    )
    .argument('<target>', 'target in the settings that only receives events: a webhook or a chat')
    .action(perform(test));
  targets
    .command('hook')
    .summary('list, set up, renew and remove the webhook of a target')
    .description(
      'Without --url it lists the webhooks that call this target. With --url it sets up the webhook: one that calls this ' +
        'address already is updated, and any others that call it are removed. Where the outside system has no API for ' +
        'it, the command prints what to enter there. `lockstep start` accepts the calls.',
    )
    .argument('<target>', 'target in the settings')
    .option('--url <url>', 'address at which the outside system reaches Lockstep, such as https://lockstep.example.com')
    .option('--renew', 'replace the webhook, and its secret if the outside system makes it')
    .option('--remove', 'remove the webhook')
    .option('--dry-run', 'only show what would be done')
    .action(perform(hook));
}

const SIGNS: Readonly<Record<Finding['status'], string>> = {
  ok: styled('good', 'ok'),
  problem: styled('bad', 'problem'),
  unknown: styled('warn', 'unknown'),
};

async function check(session: Session, name: string | undefined): Promise<ExitCode> {
  const { out } = session;
  const settings = await session.settings();
  const names = name === undefined ? Object.keys(settings.targets) : [targetNamed(settings, name).name];
  const signal = session.untilStopped('Stopping.');
  const workspace = await session.openWorkspace();
  const open = (target: string) => workspace.openTarget(target);
  const checked = await checkTargets(names, { pool: workspace.database.pool, open, signal });
  if (names.length === 0) out.say(`${settings.file} has no targets.`);
  for (const { target, findings } of checked) {
    out.say(styled('strong', target));
    for (const { what, status, detail, remedy } of findings)
      out.say(`  ${SIGNS[status]}  ${what}: ${detail}`, ...(remedy ? [`      ${remedy}`] : []));
  }
  out.result({ targets: checked });
  return checked.some(({ findings }) => findings.some(({ status }) => status === 'problem'))
    ? DONE_WITH_PROBLEMS
    : DONE;
}

async function test(session: Session, given: string): Promise<ExitCode> {
  const { out } = session;
  const { name } = targetNamed(await session.settings(), given);
  const signal = session.untilStopped('Stopping.');
  const workspace = await session.openWorkspace();
  const { isSent, reason, detail } = await testTarget(name, { open: (one) => workspace.openTarget(one), signal });
  out.say(
    `${name}: ${isSent ? styled('good', 'delivered') : styled('bad', 'not delivered')}${detail === null ? '' : `: ${detail}`}`,
  );
  out.result({ target: name, sent: isSent, reason, detail });
  return isSent ? DONE : DONE_WITH_PROBLEMS;
}

async function hook(session: Session, name: string, options: HookOptions): Promise<ExitCode> {
  const { allowPrivate } = { allowPrivate: false, ...targetNamed(await session.settings(), name) };
  const url = options.url === undefined ? undefined : hookAddress(addressOf(options.url, allowPrivate), name);
  if (options.remove && options.renew) throw wrongUse('--remove and --renew exclude each other');
  if (options.renew && url === undefined) throw wrongUse('--renew needs --url');
  const signal = session.untilStopped('Stopping.');
  const workspace = await session.openWorkspace();
  const target = await workspace.openTarget(name);
  try {
    const given = { name, url, options, hooks: target.hooks, pool: workspace.database.pool };
    return await arrange(session, given, { signal });
  } finally {
    await target.close();
  }
}

interface Arrangement {
  readonly name: string;
  readonly url: string | undefined;
  readonly options: HookOptions;
  readonly hooks: Target['hooks'];
  readonly pool: pg.Pool;
}

async function arrange(session: Session, given: Arrangement, context: CallContext): Promise<ExitCode> {
  const { out } = session;
  const { name, url, hooks, options, pool } = given;
  if (hooks === undefined)
    throw wrongUse(`${name} accepts no calls: set poll in the options of its sync`, 'HOOK_UNKNOWN');
  if ('byHand' in hooks) {
    if (options.remove) throw wrongUse(`The webhook of ${name} was set up by hand: remove it there`, 'HOOK_UNKNOWN');
    const lines = hooks.byHand(url ?? `https://YOUR-HOST/hooks/${name}`);
    out.say(...lines);
    out.result({ target: name, byHand: lines });
    return DONE;
  }
  if (url === undefined && options.remove !== true) return list(session, name, hooks, context);
  const { remove: isRemoval = false, renew: isRenewal = false, dryRun = false } = options;
  const steps = await arrangeHook(hooks, pool, { target: name, url, isRemoval, isRenewal, dryRun }, context);
  for (const step of steps) out.say(`${dryRun ? 'would be ' : ''}${step.action}: ${step.url}`);
  out.result({ target: name, dryRun, steps });
  return DONE;
}

async function list(session: Session, name: string, hooks: HookAdmin, context: CallContext): Promise<ExitCode> {
  const { out } = session;
  const found = await listHooks(hooks, name, context);
  const rows = found.map(({ url, problem }) => [url, problem ?? 'ok']);
  const none = `No webhook calls this target. To set one up: \`lockstep targets hook ${name} --url https://YOUR-HOST\``;
  out.table(['ADDRESS', 'STATE'], rows, { none });
  const wrong = found.filter(({ problem }) => problem !== undefined);
  for (const { url } of wrong) out.say(`To set it up again: \`lockstep targets hook ${name} --url ${url}\``);
  out.result({ target: name, hooks: found.map(({ id, url, problem }) => ({ id, url, problem: problem ?? null })) });
  return wrong.length === 0 ? DONE : DONE_WITH_PROBLEMS;
}

function addressOf(text: string, allowPrivate: boolean): string {
  const base = baseUrl(text);
  if (typeof base === 'string') throw wrongUse(`--url ${quote(text)}: ${base}`);
  const { protocol, hostname } = new URL(base.value);
  if (allowPrivate || (protocol === 'https:' && !isLoopback(hostname))) return base.value;
  throw wrongUse(`--url ${quote(text)} has to begin with https:// and to be reachable from the outside system`);
}
