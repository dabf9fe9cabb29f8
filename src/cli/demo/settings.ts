/** The settings of the demo: the ones that come with Lockstep, with a budget that is high enough for a short demo. */
import { LockstepError } from '../../base/errors.ts';
import { defaultSettingsFile } from '../../settings/load.ts';
import { parseSettings } from '../../settings/parse.ts';
import type { Settings } from '../../settings/settings.ts';

/** Calls a second. */
export const BUDGET = 400;

/** The sync of tasks. */
export const MIRROR = 'task-mirror';

export interface DemoReceiver {
  readonly url: string;
  readonly secret: string;
}

const textFor = ({ url, secret }: DemoReceiver) => `
accounts:
  demo: { budget: { requests: ${BUDGET}, per: 1s, burst: ${BUDGET} } }
syncs:
  nightly-contacts: { job: contacts, account: demo }
  ${MIRROR}: { job: tasks, account: demo, targets: [receiver] }
console: { listen: "127.0.0.1:0" }
targets:
  receiver: { type: webhook, url: "${url}", secret: "${secret}", allowPrivate: true }
`;

/** Everything embedded, regardless of the environment variables. */
export function demoSettings(receiver: DemoReceiver): Settings {
  const parsed = parseSettings({ text: textFor(receiver), file: defaultSettingsFile(), env: {} });
  if (parsed.status === 'valid') return parsed.settings;
  throw new LockstepError('DEMO_SETTINGS', `The demo's settings are wrong: ${parsed.problems[0]?.message}`);
}
