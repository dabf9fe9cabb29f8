/** The last days of each sync: a square for each day, with the worst outcome of its runs. */
import { plural } from '../../base/counts.ts';
import { wallTimeAt } from '../../base/time-zone.ts';
import type { Night, NightOutcome } from '../../engine/ledger/views/nights.ts';
import { NIGHTS } from '../../operator/sync-list.ts';
import { addressOf } from './parts.tsx';

/** How many days are shown. */
const DAY_MS = 24 * 60 * 60 * 1000;

const OUTCOMES: Readonly<Record<NightOutcome | 'none', string>> = {
  good: 'all rows succeeded',
  problems: 'some rows need a person',
  failed: 'failed',
  running: 'unfinished',
  none: 'no run',
};

export function Legend() {
  return (
    <span class="legend">
      {(['good', 'problems', 'failed', 'running'] as const).map((outcome) => (
        <span>
          <i class={`night ${outcome}`} />
          {OUTCOMES[outcome]}
        </span>
      ))}
    </span>
  );
}

export function Nights({ zones, nights }: { zones: Readonly<Record<string, string>>; nights: readonly Night[] }) {
  const bySyncAndDay = new Map(nights.map((night) => [`${night.sync} ${night.day}`, night]));
  const days = new Map(Object.values(zones).map((zone) => [zone, lastDays(zone)]));
  return (
    <table class="nights">
      <tbody>
        {Object.entries(zones).map(([sync, zone]) => (
          <tr>
            <th scope="row">{sync}</th>
            <td>
              <ol class="strip">
                {days.get(zone)?.map((day) => (
                  <Square sync={sync} day={day} night={bySyncAndDay.get(`${sync} ${day}`)} />
                ))}
              </ol>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Square({ sync, day, night }: { sync: string; day: string; night: Night | undefined }) {
  const outcome = night?.outcome ?? 'none';
  const words = `${day}: ${OUTCOMES[outcome]}${night && night.runs > 1 ? `, ${plural(night.runs, 'run')}` : ''}`;
  if (!night) {
    return (
      <li>
        <span class="night none" title={words}>
          <span class="unseen">{words}</span>
        </span>
      </li>
    );
  }
  return (
    <li>
      <a class={`night ${outcome}`} href={addressOf('/runs', { sync, from: night.from, to: night.to })} title={words}>
        <span class="unseen">{words}</span>
      </a>
    </li>
  );
}

/** The days until today in a zone, such as 2026-11-22. */
function lastDays(zone: string): readonly string[] {
  const today = wallTimeAt(zone, Date.now());
  return Array.from({ length: NIGHTS }, (_, i) =>
    new Date(today - (NIGHTS - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  );
}
