/** Syncs: when each starts, how it ended, and starting or pausing it. */
import { pausedSyncs } from '../../engine/ledger/schedules.ts';
import { scheduleWords } from '../../operator/schedule-words.ts';
import { type ListedSync, listSyncs } from '../../operator/sync-list.ts';
import { definePage, type PageContext } from '../page.ts';
import { Act } from '../parts/inputs.tsx';
import { addressOf, Chip, Command, Empty, Fact, Foreign, Items, Section, Time } from '../parts/parts.tsx';
import { Counts, State } from '../parts/run-counts.tsx';

export const syncs = definePage({
  path: '/syncs',
  async show(context) {
    const { pool, settings } = context;
    const [listed, paused] = await Promise.all([listSyncs(pool, settings), pausedSyncs(pool)]);
    const gone = [...paused.keys()].filter((name) => settings.syncs[name] === undefined);
    return {
      title: 'Syncs',
      tab: 'syncs',
      command: 'syncs',
      head: <h1>Syncs</h1>,
      isBusy: listed.some(({ unfinished }) => unfinished?.status === 'running'),
      body: (
        <>
          {listed.length === 0 && (
            <Empty title="The settings have no sync">
              <p>
                Add one under <code>syncs</code> in <code>{settings.file}</code>.
              </p>
            </Empty>
          )}
          {listed.map((one) => (
            <SyncCard listed={one} context={context} />
          ))}
          {gone.map((name) => (
            <Section title={name}>
              <p>It is paused, and not in the settings.</p>
              {context.canAct && <Act path={`/syncs/${name}/resume`} label="Forget the pause" />}
            </Section>
          ))}
        </>
      ),
    };
  },
});

interface SyncProps {
  readonly listed: ListedSync;
  readonly context: PageContext;
}

function SyncCard({ listed, context }: SyncProps) {
  const { canAct, hint } = context;
  const { name, type, account, schedule } = listed.sync;
  return (
    <section class="card sync">
      <div class="headline">
        <div>
          <h2>{name}</h2>
          <p class="dim">
            {type} · account {account} · {schedule ? scheduleWords(schedule) : 'no schedule'}
          </p>
        </div>
        {canAct && (
          <div class="acts">
            <Act path={`/syncs/${name}/dry-run`} label="Dry run" />
            <Act path={`/syncs/${name}/run`} label="Run now" primary />
          </div>
        )}
      </div>
      <SyncFacts listed={listed} context={context} />
      <div class="card-foot">
        <span class="links">
          <a href={addressOf('/runs', { sync: name })}>All its runs</a>
          {type === 'contacts' && (
            <a href={`/syncs/${encodeURIComponent(name)}/mapping`}>Mapping, with live examples</a>
          )}
        </span>
        {canAct &&
          schedule &&
          (listed.paused ? (
            <Act path={`/syncs/${name}/resume`} label="Resume the schedule" />
          ) : (
            <PauseForm name={name} />
          ))}
      </div>
      <Command line={hint(`run ${name}`)} />
    </section>
  );
}

function SyncFacts({ listed, context: { hint } }: SyncProps) {
  const { paused, next, pausedRun, overdue, unfinished, last } = listed;
  return (
    <dl class="facts">
      {paused && (
        <Fact name="Schedule">
          <Chip tone="warn">paused</Chip> since <Time at={paused.pausedAt} />
          {paused.reason !== undefined && [': ', <Foreign text={paused.reason} most={300} />]}
        </Fact>
      )}
      {overdue && (
        <Fact name="Overdue">
          <Chip tone="bad">not started</Chip> It was due at <Time at={overdue.since} />:{' '}
          {overdue.waitsFor ? (
            <>
              it waits for run <a href={`/runs/${overdue.waitsFor}`}>{overdue.waitsFor}</a>, which writes the same
              records.
            </>
          ) : (
            <>
              no scheduler runs.
              <Command line={hint('start')} />
            </>
          )}
        </Fact>
      )}
      {next.length > 0 && (
        <Fact name="Next starts">
          <Items as="inline" of={next.map((at) => <Time at={at} exact={isClose(next)} />)} />
          {pausedRun && <span class="dim">Only if run {pausedRun} has ended by then.</span>}
        </Fact>
      )}
      {unfinished && (
        <Fact name="Now">
          <a href={`/runs/${unfinished.run}`}>{unfinished.run}</a> <State report={unfinished} />{' '}
          <Counts report={unfinished} />
        </Fact>
      )}
      <Fact name="Last run">
        {last ? (
          <>
            <a href={`/runs/${last.run}`}>{last.run}</a> <State report={last} />{' '}
            {last.endedAt && <Time at={last.endedAt} />} <Counts report={last} />
          </>
        ) : (
          <span class="dim">none has ended yet</span>
        )}
      </Fact>
    </dl>
  );
}

function PauseForm({ name }: { readonly name: string }) {
  return (
    <form class="pause" method="post" action={`/syncs/${name}/pause`}>
      <input
        id={`reason-${name}`}
        name="reason"
        maxlength={200}
        placeholder="Reason (optional)"
        aria-label={`Reason to pause ${name}`}
      />
      <button type="submit">Pause the schedule</button>
    </form>
  );
}

/** Whether times without seconds would look the same. */
function isClose([first, second]: readonly Date[]): boolean {
  return first !== undefined && second !== undefined && second.getTime() - first.getTime() < 60_000;
}
