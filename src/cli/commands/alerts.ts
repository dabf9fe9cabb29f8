/** `lockstep alerts …`: the channels and the open alerts, and a test of the channels. */
import { plural } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { targetStates } from '../../mirror/outbox/target-states.ts';
import { type ChannelState, channelStates } from '../../operator/alerts/channel-states.ts';
import { outboxName } from '../../operator/alerts/channels/channel.ts';
import { openAlerts } from '../../operator/alerts/report-changes.ts';
import { testChannel } from '../../operator/alerts/test-channel.ts';
import { formatTime } from '../../operator/format.ts';
import type { SecretRef } from '../../settings/fields.ts';
import { readSecret } from '../../settings/secrets.ts';
import { channelNamed } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode } from '../errors.ts';
import { styled } from '../print/colour.ts';
import type { Perform, Session } from '../session.ts';

export function define(alerts: Command, perform: Perform): void {
  alerts
    .description(
      'Lists the channels of the settings with the last alert that each has received, and the alerts that are open: ' +
        'problems that were reported and still exist. A worker (lockstep start) reports each problem once, and again ' +
        'when it has recovered.',
    )
    .examples(`
  $ lockstep alerts
  $ lockstep alerts test ops-mail
  $ lockstep deliveries --target alerts.ops-mail`)
    .action(perform(list));
  alerts
    .command('test')
    .summary('send a test message now')
    .description(
      'Sends a test message through each channel, or through one, and waits for the result. It is sent once, whatever the ' +
        'events and syncs of the channel are. Exits with 1 if a channel did not accept it.',
    )
    .argument('[channel]', 'name of the channel under alerts in the settings')
    .action(perform(test));
}

async function list(session: Session): Promise<void> {
  const { out, hint } = session;
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const channels = Object.values(settings.alerts);
  const names = channels.map(({ name }) => outboxName(name));
  const states = new Map((await channelStates(pool, names)).map((state) => [state.target, state]));
  const targets = new Map((await targetStates(pool)).map((state) => [state.target, state]));
  const shown = channels.map((channel) => {
    const target = outboxName(channel.name);
    const { disabled, failing } = targets.get(target) ?? {};
    const problem = disabled?.detail ?? failing?.detail ?? states.get(target)?.refused?.detail ?? null;
    return { channel, target, state: states.get(target), isDisabled: disabled !== undefined, problem };
  });
  const lines = shown.map(({ channel, state, isDisabled }) => [
    channel.name,
    channel.type,
    channel.events?.join(', ') ?? 'all',
    channel.syncs?.join(', ') ?? 'all',
    state?.lastSentAt ? formatTime(state.lastSentAt) : 'never',
    isDisabled ? styled('bad', 'disabled') : stateWords(state),
  ]);
  out.table(['CHANNEL', 'TYPE', 'EVENTS', 'SYNCS', 'LAST SENT', 'STATUS'], lines, {
    none: 'The settings have no channel under alerts, so nothing is reported.',
  });
  for (const { target, problem, isDisabled } of shown) {
    if (problem === null) continue;
    out.say(
      `${target}: ${problem}`,
      `      ${hint(isDisabled ? `deliveries enable ${target}` : `deliveries --target ${target}`)}`,
    );
  }
  const open = await openAlerts(pool);
  out.say('', styled('strong', 'Open alerts'));
  for (const { message, since, goneAt } of open)
    out.say(
      `  ${styled('warn', message.title)}, since ${formatTime(since)}${goneAt === undefined ? '' : `; gone at ${formatTime(goneAt)}`}`,
      `      ${message.text}`,
      goneAt === undefined
        ? `      ${message.command}`
        : '      It is reported as recovered if it does not return within five minutes.',
    );
  if (open.length === 0) out.say('  none');
  out.result({
    channels: shown.map(({ channel: { name, type, events, syncs }, state, isDisabled, problem }) => ({
      name,
      type,
      events: events ?? null,
      syncs: syncs ?? null,
      lastSentAt: state?.lastSentAt ?? null,
      waiting: state?.waiting ?? 0,
      dead: state?.dead ?? 0,
      disabled: isDisabled,
      problem,
    })),
    open: open.map(({ message: { state: _, ...alert }, goneAt }) => ({
      ...alert,
      goneAt: goneAt?.toISOString() ?? null,
    })),
  });
}

function stateWords({ waiting = 0, dead = 0 }: Partial<ChannelState> = {}): string {
  const parts = [
    ...(waiting > 0 ? [`${waiting} not sent yet`] : []),
    ...(dead > 0 ? [plural(dead, 'dead letter')] : []),
  ];
  return parts.length === 0 ? 'ok' : styled('warn', parts.join(', '));
}

async function test(session: Session, name: string | undefined): Promise<ExitCode> {
  const { out, hint, env } = session;
  const read = (ref: SecretRef) => readSecret(ref, env);
  const settings = await session.settings();
  const channels = name === undefined ? Object.values(settings.alerts) : [channelNamed(settings, name)];
  if (channels.length === 0)
    throw wrongUse(`${settings.file} has no channel under alerts. Add one, then check it: ${hint('settings check')}`);
  const signal = session.untilStopped('Stopping.');
  const results = await Promise.all(
    channels.map(async (channel) => ({
      name: channel.name,
      ...(await testChannel(channel, { readSecret: read }, signal)),
    })),
  );
  const tested = results.map(({ name: of, isSent, reason, detail }) => {
    out.say(
      `${of}: ${isSent ? styled('good', 'delivered') : styled('bad', 'not delivered')}${detail === null ? '' : `: ${detail}`}`,
    );
    return { name: of, sent: isSent, reason, detail };
  });
  out.result({ channels: tested });
  return tested.every(({ sent }) => sent) ? DONE : DONE_WITH_PROBLEMS;
}
