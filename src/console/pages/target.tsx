/** One target or channel for alerts: how it is, what waits for it, and what a check of the outside system finds. */
import type { Child } from 'hono/jsx';
import { z } from 'zod';
import { formatCount } from '../../base/counts.ts';
import { shellWord, withOptions } from '../../base/reasons/template.ts';
import type { Finding } from '../../contract/target.ts';
import { lagOf } from '../../mirror/outbox/delays.ts';
import type { DeliveryCounts } from '../../mirror/outbox/deliveries.ts';
import { channelIn } from '../../operator/alerts/channels/channel.ts';
import { countOutbox, isStranded, requireTarget } from '../../operator/deliveries.ts';
import { targetPath } from '../../operator/page-paths.ts';
import { checkNow } from '../../operator/target-check.ts';
import { Hidden, maskUrl } from '../../settings/hidden.ts';
import { isEventTarget, type TargetSettings } from '../../settings/schema-target.ts';
import type { Settings } from '../../settings/settings.ts';
import { definePage } from '../page.ts';
import { Lags } from '../parts/charts.tsx';
import { Act, Button, Remedy } from '../parts/inputs.tsx';
import { addressOf, Chip, Crumbs, Facts, Section } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { healthOf, Signing, secretsOf, TargetHealth } from './target-parts.tsx';

/** What is not in the settings is neither checked nor tested. */
function commandOf(name: string, { isTarget, channel }: { isTarget: boolean; channel: string | undefined }): string {
  if (channel !== undefined) return `alerts test ${shellWord(channel)}`;
  return isTarget ? `targets check ${shellWord(name)}` : withOptions('deliveries', { target: name });
}

export const target = definePage({
  path: '/targets/:target',
  params: z.object({ target: z.string() }),
  query: z.object({ check: z.literal('1').optional() }),
  async show(context, { params: { target: name }, query }) {
    const { pool, settings, canAct } = context;
    const counted = (await countOutbox(pool, settings)).find((one) => one.target === name);
    if (!counted) throw requireTarget(settings, name); // throws: neither the settings nor the outbox has it
    const health = (await healthOf(pool, [name])).get(name);
    const channel = channelIn(name);
    const own = settings.targets[name];
    const channelSettings = channel === undefined ? undefined : settings.alerts[channel];
    const listOf = (verdict: 'waiting' | 'dead') => addressOf('/deliveries', { target: name, verdict });
    return {
      title: name,
      tab: 'deliveries',
      command: commandOf(name, { isTarget: own !== undefined, channel: channelSettings && channel }),
      isStill: query.check !== undefined,
      head: (
        <>
          <Crumbs to={{ '/deliveries': 'Deliveries' }} />
          <h1>{name}</h1>
        </>
      ),
      body: (
        <>
          <div class="headline">
            <div>
              <TargetHealth {...{ health, counted, settings }} />
            </div>
            <div class="acts">
              {counted.dead > 0 && <Button id="see-dead" to={listOf('dead')} label="See the dead letters" />}
              {canAct && <Acts isDisabled={health?.state?.disabled !== undefined} {...{ counted, settings }} />}
              {own !== undefined && (
                <Button id="check" to={addressOf(targetPath(name), { check: '1' })} label="Check the target now" />
              )}
            </div>
          </div>
          <Facts
            of={{
              Type: own?.type ?? channelSettings?.type ?? 'not in the settings',
              Address: addressIn(own),
              'Receives from': sendersOf(settings, name),
              Signing: own?.type === 'webhook' && <Signing {...own} />,
              Secrets: secretsOf(own ?? channelSettings),
              Deliveries: (
                <>
                  <a id="all" href={listOf('waiting')}>
                    {formatCount(counted.open)} waiting
                  </a>
                  {', '}
                  <a id="dead" href={listOf('dead')}>
                    {formatCount(counted.dead)} dead
                  </a>
                </>
              ),
            }}
          />
          {query.check !== undefined && own !== undefined && (
            <Section title="Check">
              <Findings findings={await checkNow(name, { pool, open: context.targets.open })} />
            </Section>
          )}
          <Lags of={(await lagOf(pool)).filter(({ target }) => target === name)} />
        </>
      ),
    };
  },
});

interface ActsProps {
  readonly counted: DeliveryCounts;
  readonly settings: Settings;
  readonly isDisabled: boolean;
}

function Acts({ counted, settings, isDisabled }: ActsProps) {
  const { target } = counted;
  const path = targetPath(target);
  const own = settings.targets[target];
  const isLeft = isStranded(counted, settings);
  const takesTests = channelIn(target) !== undefined || (own !== undefined && isEventTarget(own));
  return (
    <>
      {isDisabled && <Act path={`${path}/enable`} label="Enable" primary />}
      {isLeft && <Act path={`${path}/drop`} label="Drop what waits" />}
      {counted.open > 0 && !isLeft && !isDisabled && (
        <Button
          id="try-now"
          to={addressOf('/deliveries/confirm', { target, verdict: 'waiting' })}
          label="Try what waits now"
        />
      )}
      {takesTests && <Act path={`${path}/test`} label="Send a test message" />}
    </>
  );
}

/** Without its secrets. */
function addressIn(settings: TargetSettings | undefined): string | undefined {
  const url = settings && 'url' in settings ? settings.url : undefined;
  return typeof url === 'string' || url instanceof Hidden ? maskUrl(String(url)) : undefined;
}

function sendersOf({ syncs }: Settings, target: string): Child {
  const senders = Object.values(syncs).filter((sync) => sync.type === 'tasks' && sync.targets.includes(target));
  if (senders.length === 0) return null;
  return senders.map(({ name }, i) => [i > 0 && ', ', <a href={addressOf('/runs', { sync: name })}>{name}</a>]);
}

const TONES = { ok: 'good', problem: 'bad', unknown: 'warn' } as const;

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) return <p>There is nothing to check without a delivery.</p>;
  return (
    <ul class="notes">
      {findings.map(({ what, status, detail, remedy }) => (
        <li>
          <Chip tone={TONES[status]}>{status}</Chip> <Words text={`${what}: ${detail}`} most={800} />
          <Remedy text={remedy} most={600} />
        </li>
      ))}
    </ul>
  );
}
