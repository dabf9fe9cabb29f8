/** An issue of Jira as answers and webhooks tell of it, how one is named, and how a text names one. */
import { z } from 'zod';
import type { ItemState } from './target.ts';
import { isSameName } from './wanted.ts';

const KEY = '[A-Z][A-Z\\d_]{1,29}-\\d{1,9}';

export const jiraStatus = z.object({
  name: z.string(),
  statusCategory: z.object({ key: z.string() }),
});

export const jiraIssue = z.object({ key: z.string(), fields: z.object({ status: jiraStatus }) });

/** Done is what Jira calls so, and what the settings call so whatever Jira says of it. */
export function toJiraItem(
  { key, fields: { status } }: z.output<typeof jiraIssue>,
  doneStatus: string | undefined,
): ItemState {
  const isCompleted =
    status.statusCategory.key === 'done' || (doneStatus !== undefined && isSameName(status.name, doneStatus));
  return { itemId: key, isCompleted, status: status.name };
}

export function isJiraKey(itemId: string): boolean {
  return new RegExp(`^${KEY}$`).test(itemId);
}

/** In the order of the text, each once: `JIRA: ABC-12`, addresses of issues on this site, and ABC-12 of the settings' project. */
export function jiraItemsIn(
  text: string,
  { url, project }: { readonly url: string; readonly project?: string | undefined },
) {
  const site = new URL(url).host.replaceAll('.', '\\.');
  const own = project === undefined ? [] : [`(?<![\\w/.=-])${project}-\\d{1,9}`];
  const starts = [`JIRA:\\s*${KEY}`, `https?://${site}/[^\\s"'<>]{0,300}?(?:browse/|selectedIssue=)${KEY}`, ...own];
  const pattern = new RegExp(`(?:${starts.join('|')})(?![\\w-])`, 'g');
  const last = new RegExp(`${KEY}$`);
  return [...new Set([...text.matchAll(pattern)].flatMap(([named]) => last.exec(named)?.[0] ?? []))];
}
