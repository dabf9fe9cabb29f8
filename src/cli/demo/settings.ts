/** The settings of the demo: everything embedded, with a budget that is high enough for a short demo. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadSettings } from '../../settings/load.ts';
import type { Settings } from '../../settings/settings.ts';

/** Calls a second. */
export const BUDGET = 400;

export const MIRROR = 'task-mirror';

export interface DemoReceiver {
  readonly url: string;
  readonly secret: string;
}

const SECRET_FILE = 'receiver-secret';

const textFor = (url: string, secretFile: string) => `
accounts:
  demo: { budget: { requests: ${BUDGET}, per: 1s, burst: ${BUDGET} } }
syncs:
  nightly-contacts: { type: contacts, account: demo }
  ${MIRROR}: { type: tasks, account: demo, targets: [receiver] }
console: { listen: "127.0.0.1:0" }
targets:
  receiver: { type: webhook, url: "${url}", secret: { file: ${JSON.stringify(secretFile)} }, allowPrivate: true }
`;

/** Written into the directory of the demo, so that other commands can use them; the environment changes nothing. */
export async function demoSettings(dir: string, { url, secret }: DemoReceiver): Promise<Settings> {
  const [configFile, secretFile] = [path.join(dir, 'lockstep.yaml'), path.join(dir, SECRET_FILE)];
  await writeFile(secretFile, secret, { mode: 0o600 });
  await writeFile(configFile, textFor(url, secretFile));
  return loadSettings({ configFile, env: {}, cwd: dir });
}
