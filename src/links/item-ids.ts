/** How the items of a target are named where a whole cell does it: by their id, or by their address. Pure. */
import type { TargetSettings } from '../settings/target.ts';
import { asanaItemsIn } from '../targets/asana.ts';
import { githubItemsIn, webHostOf } from '../targets/github-items.ts';
import { jiraItemsIn } from '../targets/jira-issue.ts';
import { linearItemsIn } from '../targets/linear-issue.ts';
import { serviceItemsIn } from '../targets/service.ts';
import type { Target } from '../targets/target.ts';
import { todoistItemsIn } from '../targets/todoist.ts';

export interface ItemNaming {
  /** Those that a text names, as the opened target tells them. */
  readonly itemsIn: NonNullable<Target['itemsIn']>;
  /** What a text puts before a bare id. */
  readonly sign: string;
  /** For people. */
  readonly example: string;
}

/** Undefined where the target has no items that tasks could be linked with. */
export function itemNamingOf(target: TargetSettings): ItemNaming | undefined {
  switch (target.type) {
    case 'github': {
      const place = { owner: target.owner, repo: target.repo, webHost: webHostOf(target.url) };
      const example = `${target.owner ?? 'owner'}/${target.repo ?? 'repo'}#12`;
      return { itemsIn: (text) => githubItemsIn(text, place), sign: 'GH', example };
    }
    case 'jira':
      return {
        itemsIn: (text) => jiraItemsIn(text, target),
        sign: 'JIRA',
        example: `${target.project ?? 'ABC'}-12`,
      };
    case 'linear':
      return { itemsIn: linearItemsIn, sign: 'LINEAR', example: `${target.team ?? 'ABC'}-12` };
    case 'asana':
      return { itemsIn: asanaItemsIn, sign: 'ASANA', example: '1204567890123456' };
    case 'todoist':
      return { itemsIn: todoistItemsIn, sign: 'TODOIST', example: '6X7rM8997g3RQmvh' };
    case 'service': {
      const { account } = target;
      // A text names the account as well, of which there may be several.
      return {
        itemsIn: (text) => serviceItemsIn(text.replace(/^TASK: /, `${account}#`), account),
        sign: 'TASK',
        example: '12',
      };
    }
    default:
      return undefined;
  }
}

/** The one item that the cell names, and nothing else, by the target's own naming; undefined where it does not. */
export function itemIdIn(cell: string, { itemsIn, sign }: ItemNaming): string | undefined {
  const isAddress = /^https?:\/\/\S+$/i.test(cell);
  if (isAddress) return only(itemsIn(cell));
  const bare = cell.replace(new RegExp(`^${sign}:\\s*`), '');
  // A repository of its own is left out: #12, or 12 alone.
  const isAllOf = (itemId: string) =>
    itemId.toLowerCase() === bare.toLowerCase() || itemId.endsWith(`#${bare.replace(/^#/, '')}`);
  return only(itemsIn(`${sign}: ${bare}`).filter(isAllOf));
}

function only(itemIds: readonly string[]): string | undefined {
  return itemIds.length === 1 ? itemIds[0] : undefined;
}
