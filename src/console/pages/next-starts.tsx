/** When each sync starts next, on Home. */
import { scheduleWords, startCondition } from '../../operator/schedule-words.ts';
import type { Status } from '../../operator/status.ts';
import type { Settings } from '../../settings/settings.ts';
import type { PageContext } from '../page.ts';
import { Section, Time } from '../parts/parts.tsx';

interface NextStartsProps extends Pick<PageContext, 'settings'> {
  readonly status: Status;
}

export function NextStarts({ status, settings }: NextStartsProps) {
  const { next, paused } = status;
  if (next.length + paused.size === 0) {
    return (
      <Section title="Next starts">
        <p class="dim">
          No sync has a schedule. Add <code>schedule</code> to a sync in the settings.
        </p>
      </Section>
    );
  }
  return (
    <Section title="Next starts">
      <table class="list">
        <tbody>
          {next.map(({ sync, at, pausedRun }) => (
            <tr>
              <th scope="row">{sync}</th>
              <td>
                <Time at={at} />
              </td>
              <td class="dim">
                {wordsOf(settings, sync)}
                {startCondition(pausedRun)}
              </td>
            </tr>
          ))}
          {[...paused.values()].map(({ sync, pausedAt }) => (
            <tr>
              <th scope="row">{sync}</th>
              <td colspan={2}>
                paused since <Time at={pausedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function wordsOf({ syncs }: Settings, name: string): string {
  const schedule = syncs[name]?.schedule;
  return schedule ? scheduleWords(schedule) : '';
}
