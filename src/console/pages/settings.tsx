/** Settings: those in effect, with secrets masked, and what may be wrong with them. */
import { stringify } from 'yaml';
import { printable } from '../../base/visible.ts';
import { maskSettings } from '../../settings/mask.ts';
import type { Settings } from '../../settings/settings.ts';
import { sharedRead } from '../live/shared-reads.ts';
import { definePage } from '../page.ts';
import { Foreign, Items, Section } from '../parts/parts.tsx';

const WIDTH = 120;
/** Reading the file and its secrets takes longer than the page. */
const FRESH_MS = 2_000;

/** The settings as YAML, made once: they stay as they are as long as they are in effect. */
function shownText(inEffect: Settings): Promise<string> {
  const text = async () => printable(stringify(maskSettings(inEffect), { lineWidth: WIDTH }).trimEnd());
  return sharedRead(inEffect, 'text', text, { freshMs: Number.POSITIVE_INFINITY });
}

export const settings = definePage({
  path: '/settings',
  async show({ settings: inEffect, checkSettings, canAct }) {
    const { problem, warnings } = await sharedRead(inEffect, 'check', checkSettings, { freshMs: FRESH_MS });
    const text = await shownText(inEffect);
    return {
      title: 'Settings',
      tab: 'settings',
      command: 'settings check',
      head: (
        <>
          <h1>Settings</h1>
          <p class="dim">
            <Foreign text={inEffect.file} /> · <a href="/queues">Queues of the workers</a>
          </p>
        </>
      ),
      body: (
        <>
          {problem !== undefined && (
            <Section title="Problems of the file">
              <p>This process keeps the settings below until the file is fixed.</p>
              {canAct ? <pre class="source">{printable(problem)}</pre> : <p>An operator sees what is wrong.</p>}
            </Section>
          )}
          {warnings.length > 0 && (
            <Section title="Warnings">
              <Items as="notes" of={warnings.map((warning) => <Foreign text={warning} />)} />
            </Section>
          )}
          <Section title="In effect">
            <pre class="source">{text}</pre>
          </Section>
        </>
      ),
    };
  },
});
