/** How a target is, for the list of targets and for its page. */
import type { Child } from 'hono/jsx';
import type pg from 'pg';
import { formatCount, plural } from '../../base/counts.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { DeliveryCounts } from '../../mirror/outbox/deliveries.ts';
import { type TargetState, targetStates } from '../../mirror/outbox/target-states.ts';
import { deliveryFailure, type Undelivered, undelivered } from '../../mirror/outbox/undelivered.ts';
import { outboxNames, strandedWords, workerWords } from '../../operator/deliveries.ts';
import { targetPath } from '../../operator/page-paths.ts';
import { secretsIn } from '../../settings/fields.ts';
import type { TargetSettings } from '../../settings/schema-target.ts';
import { sourceOf } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import type { PageContext } from '../page.ts';
import { addressOf, Chip, Command, Foreign, Section, Table, Time } from '../parts/parts.tsx';

interface TargetsProps {
  readonly counts: readonly DeliveryCounts[];
  readonly health: ReadonlyMap<string, HealthProps>;
  readonly settings: Settings;
}

export function Targets({ counts, health, settings }: TargetsProps) {
  return (
    <Section title="Targets">
      <Table columns={['Target', 'State', { title: 'Waiting', as: 'number' }, { title: 'Dead letters', as: 'number' }]}>
        {counts.map((counted) => (
          <tr>
            <td>
              <a id={`target-${counted.target}`} href={targetPath(counted.target)}>
                {counted.target}
              </a>
            </td>
            <td>
              <TargetHealth health={health.get(counted.target)} counted={counted} settings={settings} />
            </td>
            <CountOf target={counted.target} verdict="waiting" count={counted.open} />
            <CountOf target={counted.target} verdict="dead" count={counted.dead} />
          </tr>
        ))}
      </Table>
    </Section>
  );
}

interface CountOfProps {
  readonly target: string;
  readonly verdict: 'waiting' | 'dead';
  readonly count: number;
}

function CountOf({ target, verdict, count }: CountOfProps) {
  const words = formatCount(count);
  return (
    <td class="number" data-unit={verdict}>
      {count === 0 ? (
        words
      ) : (
        <a id={`${verdict}-${target}`} href={addressOf('/deliveries', { target, verdict })}>
          {words}
        </a>
      )}
    </td>
  );
}

interface HealthProps {
  readonly state?: TargetState | undefined;
  readonly retried?: Undelivered['retried'];
  /** Its newest dead letters: since when, and why. */
  readonly refused?: Undelivered['dead'];
  readonly dead?: number;
}

/** How these targets are, by name; those without a problem are left out. */
export async function healthOf(pool: pg.Pool, names: readonly string[]): Promise<ReadonlyMap<string, HealthProps>> {
  if (names.length === 0) return new Map();
  const [states, waiting] = [await targetStates(pool), await undelivered(pool, names)];
  const health = names.map((target) => {
    const state = states.find((one) => one.target === target);
    const { retried, dead: refused } = waiting.find((one) => one.target === target) ?? {};
    return [target, { state, retried, refused }] as const;
  });
  return new Map(health.filter(([, { state, retried, refused }]) => state || retried || refused));
}

/** Those that do not take deliveries now. */
export async function stuckOf(pool: pg.Pool, names: readonly string[]) {
  return [...(await healthOf(pool, names))].filter(([, { state, retried }]) => state || retried);
}

/** Why deliveries to these targets wait. */
export function WaitsForTargets({ stuck }: { readonly stuck: readonly (readonly [target: string, HealthProps])[] }) {
  return (
    <>
      {stuck.map(([target, health]) => (
        <div class="notice warn">
          It waits for target <a href={targetPath(target)}>{target}</a>: <Health {...health} />
        </div>
      ))}
    </>
  );
}

interface NoWorkerProps extends Pick<PageContext, 'hint'> {
  readonly targets: readonly string[];
}

/** That deliveries to these targets wait for a worker. */
export function NoWorker({ targets, hint }: NoWorkerProps) {
  return targets.length === 0 ? null : (
    <div class="notice warn">
      {workerWords(targets)}
      <Command line={hint('start')} />
    </div>
  );
}

/** The targets of an unfinished run that do not take its deliveries now. */
export async function stuckTargets({ pool, settings: { syncs } }: PageContext, { sync, endedAt }: Run) {
  const of = syncs[sync];
  return endedAt === undefined && of?.type === 'tasks' ? stuckOf(pool, of.targets) : [];
}

interface TargetHealthProps {
  readonly health: HealthProps | undefined;
  readonly counted: DeliveryCounts;
  readonly settings: Settings;
}

/** Of a target that may have left the settings. */
export function TargetHealth({ health, counted, settings }: TargetHealthProps) {
  const { target, open, dead } = counted;
  if (outboxNames(settings).includes(target)) return <Health {...health} dead={dead} />;
  return (
    <>
      <p>
        <Chip tone="warn">not in the settings</Chip> {open > 0 && strandedWords(counted)}
      </p>
      {dead > 0 && <Health refused={health?.refused} dead={dead} />}
    </>
  );
}

function Health({ state, retried, refused, dead = 0 }: HealthProps) {
  if (!state && !retried && dead === 0) return <Chip tone="good">no problem</Chip>;
  const { disabled, blockedUntil } = state ?? {};
  const failure = deliveryFailure(state?.failing, retried);
  return (
    <>
      {disabled && (
        <p>
          <Chip tone="bad">disabled</Chip> since <Time at={disabled.at} />:{' '}
          <Foreign text={disabled.detail} most={300} />
        </p>
      )}
      {failure && !disabled && (
        <p>
          {state?.failing ? <Chip tone="bad">failing</Chip> : <Chip tone="warn">retrying</Chip>} since{' '}
          <Time at={failure.since} />: <Foreign text={failure.detail} most={300} />
          {retried && `; ${plural(retried.count, 'delivery', 'deliveries')} failed and will be retried`}
        </p>
      )}
      {blockedUntil && (
        <p>
          <Chip tone="warn">paused</Chip> nothing is sent to it until <Time at={blockedUntil} />
        </p>
      )}
      {dead > 0 && (
        <p>
          <Chip tone="warn">has dead letters</Chip>
          {refused && (
            <>
              {' since '}
              <Time at={refused.since} />: <Foreign text={refused.detail} most={300} />
            </>
          )}
        </p>
      )}
    </>
  );
}

/** Where each secret of a target or channel comes from, such as the variable of its token. */
export function secretsOf(settings: object | undefined): Child {
  const sources = secretsIn(settings).map(sourceOf);
  return sources.length === 0 ? null : sources.map((source) => <div>{source}</div>);
}

/** How deliveries to a webhook are signed. During a rotation, receivers can check either signature. */
export function Signing({ previousSecret }: Extract<TargetSettings, { type: 'webhook' }>) {
  if (previousSecret === undefined) return <>signed with one secret</>;
  return (
    <>
      The secret is being rotated: signed with both. When every receiver has the new one, remove{' '}
      <code>previousSecret</code>.
    </>
  );
}
