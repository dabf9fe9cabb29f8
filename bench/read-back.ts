/**
 * Reading linked items back, from stand-ins of the vendors: one call for each item, against the calls that show many. The seconds are
 * those that the calls take at least in the default budget of the target, because that is slower than any vendor answers.
 */
import type { Target } from '../src/contract/target.ts';
import { portionOf, readLinks } from '../src/mirror/inbound/read-linked.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { startAsana } from '../test/support/asana-standin.ts';
import { startGithub } from '../test/support/github-standin.ts';
import { type ItemVendor, needsOf } from '../test/support/item-vendor.ts';
import { startJira } from '../test/support/jira-standin.ts';
import { startLinear } from '../test/support/linear-standin.ts';
import { startTodoist } from '../test/support/todoist-standin.ts';
import type { Row } from './table.ts';

const LINKED = 2_000;
/** Every second item of the repository, project or team is linked. */
const ITEMS = 2 * LINKED;
/** Ten calls for 500 items. */
const MOST_CALLS = LINKED / 50;

const VENDORS: Readonly<Record<string, { start(): Promise<ItemVendor>; readonly settings: string }>> = {
  github: { start: startGithub, settings: 'owner: octo, repo: shop' },
  jira: { start: startJira, settings: 'url: "https://acme.atlassian.net", email: a@example.com, project: ABC' },
  asana: { start: startAsana, settings: 'project: "555"' },
  linear: { start: startLinear, settings: 'team: ENG' },
  todoist: { start: startTodoist, settings: 'project: 6Jf8VQXxpwv56VQ7' },
};

export async function readBack(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, { start, settings }] of Object.entries(VENDORS)) {
    const standin = await start();
    const all = Array.from({ length: ITEMS }, (_, n) => standin.put(n % 4 === 1));
    const linked = all.filter((_, n) => n % 2 === 1);
    const before = await callsOf(standin, linked, ({ readItems: _, ...single }) => single);
    const after = await callsOf(standin, linked, (target) => target);
    await standin.vendor.close();
    const seconds = secondsIn(budgetOf(name, settings));
    rows.push({
      what: `${LINKED} linked items of ${name}: calls, and seconds in its budget; one call each → many in one call`,
      wanted: `≤ ${MOST_CALLS} calls`,
      got: `${before} → ${after} calls, ${seconds(before)} → ${seconds(after)} s`,
      isMet: after <= MOST_CALLS,
    });
  }
  return rows;
}

/** The calls that reading all items takes, in the portions of a run. */
async function callsOf(
  { vendor, openTarget }: ItemVendor,
  itemIds: readonly string[],
  reader: (target: Target) => Target,
): Promise<number> {
  const known = vendor.requests.length;
  const { signal } = new AbortController();
  const target = reader(openTarget(needsOf(vendor), { create: false }));
  const portion = portionOf(target);
  for (let from = 0; from < itemIds.length; from += portion) {
    const links = itemIds.slice(from, from + portion).map((itemId) => ({ taskId: itemId, itemId }));
    const { reads } = await readLinks(target, links, signal);
    const found = reads.filter(({ read }) => read.status === 'found').length;
    if (found !== links.length) throw new Error(`${found} of ${links.length} items were found`);
  }
  await target.close();
  return vendor.requests.length - known;
}

interface Budget {
  readonly requests: number;
  readonly perMs: number;
  readonly burst: number;
}

function secondsIn({ requests, perMs, burst }: Budget): (calls: number) => number {
  return (calls) => Math.round((Math.max(0, calls - burst) * perMs) / requests / 1000);
}

/** The default budget of a target with these settings. */
function budgetOf(type: string, settings: string): Budget {
  const text = `
accounts: { a: { url: "https://sales.example.com", apiKey: { env: KEY } } }
targets: { t: { type: ${type}, token: { env: TOKEN }, ${settings} } }`;
  const parsed = parseSettings({ text, file: 'bench.yaml', env: { KEY: 'k', TOKEN: 't' } });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const target = parsed.settings.targets.t;
  if (target === undefined || !('budget' in target)) throw new Error('unreachable: every vendor has a budget');
  return target.budget;
}
