/** How the items of each type of target are named: by people who link them, in a text, and in a cell of a CSV. Pure. */
import type { EventType, SettingsOf, TargetSettings } from '../../../settings/schema-target.ts';
import type { HttpItems } from '../../../settings/target-http.ts';

export interface ItemNaming {
  /** What an item is linked by, for people: "owner/repo#12". */
  readonly linkedBy: string;
  /** How people link a task with an item, as part of a message. */
  readonly howToLink: string;
  /** How people let the target create items, as part of a message. Default: set create: true for this target. */
  readonly howToCreate?: string;
  /** What a cell may put before a bare id, with a colon. */
  readonly sign: string;
  /** What a text puts before a bare id. */
  readonly prefix: string;
  /** For people. */
  readonly example: string;
  isItemId(itemId: string): boolean;
  /** The items that a text names, in its order, each once. */
  itemsIn(text: string): string[];
}

/** Undefined if the target has no items that tasks can be linked with. */
export function itemNamingOf(target: TargetSettings): ItemNaming | undefined {
  switch (target.type) {
    case 'github':
      return githubNaming(target);
    case 'jira':
      return jiraNaming(target);
    case 'linear':
      return linearNaming(target);
    case 'asana':
      return ASANA;
    case 'todoist':
      return TODOIST;
    case 'http':
      return target.items && httpNaming(target.items);
    case 'service':
      return serviceNaming(target);
    default:
      // A type with items needs a case above; a type that only receives events belongs to EVENT_TYPES.
      target satisfies { readonly type: EventType | 'postgres' };
      return undefined;
  }
}

/** A name must not change the path of the call: `..` is not a repository. */
const OWNER = '[A-Za-z\\d][\\w-]{0,99}';
const REPO = '(?!\\.{1,2}(?![\\w.-]))[\\w.-]{1,100}';
const NUMBER = '\\d{1,9}';

/** In lower case, because GitHub compares names without case: each issue has one name here. */
export function githubItemId(owner: string, repo: string, number: number | string): string {
  return `${owner}/${repo}#${number}`.toLowerCase();
}

/** Issues by their addresses, as `owner/repo#12`, and as `#12` and `GH: 12` of the settings' own repository. */
export function githubNaming({
  url,
  site,
  owner,
  repo,
}: Pick<SettingsOf<'github'>, 'url' | 'site' | 'owner' | 'repo'>): ItemNaming {
  // The host of the pages that belong to an API: api.github.com → github.com, api.HOST.ghe.com → HOST.ghe.com.
  const { host } = new URL(site ?? url);
  const pages = /^api\.(github\.com$|.*\.ghe\.com$)/.test(host) ? host.slice('api.'.length) : host;
  // Not within a longer word, an address or a character reference such as &#39;
  const start = '(?<![\\w/&#.-])';
  const pattern = new RegExp(
    [
      `https?://(?:www\\.)?${escaped(pages)}/(?<urlOwner>${OWNER})/(?<urlRepo>${REPO})/issues/(?<urlNumber>${NUMBER})(?![\\w-])`,
      `${start}(?<owner>${OWNER})/(?<repo>${REPO})#(?<number>${NUMBER})(?![\\w-])`,
      `${start}(?:#|GH:\\s*#?)(?<own>${NUMBER})(?![\\w-])`,
    ].join('|'),
    'g',
  );
  return {
    ...named('GH', 'owner/repo#12', `${owner ?? 'owner'}/${repo ?? 'repo'}#12`),
    isItemId: (itemId) => new RegExp(`^${OWNER}/${REPO}#${NUMBER}$`).test(itemId),
    itemsIn: (text) =>
      distinct(text, pattern, (groups) => {
        const theOwner = groups.urlOwner ?? groups.owner ?? owner;
        const theRepo = groups.urlRepo ?? groups.repo ?? repo;
        if (theOwner === undefined || theRepo === undefined) return undefined;
        // With an owner set, texts reach only that owner's issues: a task's author must not reach every repository.
        if (owner !== undefined && theOwner.toLowerCase() !== owner.toLowerCase()) return undefined;
        return githubItemId(theOwner, theRepo, groups.urlNumber ?? groups.number ?? groups.own ?? '');
      }),
  };
}

const JIRA_KEY = '[A-Z][A-Z\\d_]{1,29}-\\d{1,9}';
/** Jira opens an address with its key in lower case, too. */
const JIRA_URL_KEY = '[A-Za-z][A-Za-z\\d_]{1,29}-\\d{1,9}';

/** What comes before the key in the address of an issue: on its own page, in a list, a queue or a board. */
const JIRA_PAGES = ['/browse/', '/issues/', '/queues/custom/\\d+/', '[?&]selectedIssue='].join('|');

/** Issues as `JIRA: ABC-12`, by their addresses on this site, and as ABC-12 of the settings' project. */
export function jiraNaming({ url, site, project }: Pick<SettingsOf<'jira'>, 'url' | 'site' | 'project'>): ItemNaming {
  const pages = escaped(new URL(site ?? url).host);
  const own = project === undefined ? '' : `|(?<![\\w/.=-])(?=${project}-)`;
  const address = `https?://${pages}(?:/[^\\s"'<>]{0,300}?)?(?:${JIRA_PAGES})(?<urlId>${JIRA_URL_KEY})`;
  const pattern = new RegExp(`(?:${address}|(?:JIRA:\\s*${own})(?<id>${JIRA_KEY}))(?![\\w-])`, 'g');
  return {
    ...named('JIRA', 'ABC-12', `${project ?? 'ABC'}-12`),
    isItemId: (itemId) => new RegExp(`^${JIRA_KEY}$`).test(itemId),
    itemsIn: (text) => distinct(text, pattern, ({ urlId, id }) => urlId?.toUpperCase() ?? id),
  };
}

const LINEAR_KEY = '[A-Z][A-Z\\d]{0,9}-\\d{1,9}';
const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** Issues by their addresses and as `LINEAR: ABC-12`. */
export function linearNaming({ team }: Pick<SettingsOf<'linear'>, 'team'>): ItemNaming {
  const pattern = new RegExp(
    `(?:https?://linear\\.app/[\\w-]+/issue/(?<urlId>${LINEAR_KEY})|LINEAR:\\s*(?<id>${LINEAR_KEY}))(?!\\w)`,
    'gi',
  );
  return {
    ...named('LINEAR', 'ABC-12', `${team ?? 'ABC'}-12`),
    isItemId: (itemId) => new RegExp(`^(?:${LINEAR_KEY}|${UUID})$`).test(itemId),
    // Linear's addresses may have the key in lower case.
    itemsIn: (text) => distinct(text, pattern, ({ urlId, id }) => (urlId ?? id)?.toUpperCase()),
  };
}

/** `0/PROJECT/TASK`, where a word such as inbox or home may come first, or `1/WORKSPACE/…/task/TASK`. */
const ASANA_ADDRESS = '0/(?:[a-z_]+/)?\\d+/|1/\\d+/(?:[a-z_]+/(?:\\d+/)?){0,2}task/';

/** Tasks by their addresses, old and new, and as `ASANA: 12`. */
export const ASANA: ItemNaming = {
  ...named('ASANA', 'the number at the end of its address', '1204567890123456'),
  isItemId: (itemId) => /^\d{1,30}$/.test(itemId),
  itemsIn: (text) =>
    distinct(
      text,
      new RegExp(`(?:https?://app\\.asana\\.com/(?:${ASANA_ADDRESS})|ASANA:\\s*)(?<id>\\d{1,30})(?!\\w)`, 'g'),
    ),
};

const TODOIST_ADDRESS =
  'https?://(?:app\\.|www\\.)?todoist\\.com/(?:showTask\\?id=|(?:app/)?task/(?:[\\w%-]{0,300}-)?)';

/** Tasks by their addresses, old and new, and as `TODOIST: id`. */
export const TODOIST: ItemNaming = {
  ...named('TODOIST', 'the id of letters and digits at the end of its address', '6X7rM8997g3RQmvh'),
  // An id of digits alone is of an API that has ended: Todoist refuses it, and does not say which task it was.
  isItemId: (itemId) => /^(?=\d*[A-Za-z])[\dA-Za-z]{1,40}$/.test(itemId),
  itemsIn: (text) =>
    distinct(text, new RegExp(`(?:${TODOIST_ADDRESS}|TODOIST:\\s*)(?<id>[\\dA-Za-z]{5,40})(?![\\w-])`, 'g')),
};

/** Tasks as `account#12`: a text also names the account, because there may be several. */
export function serviceNaming({ account }: Pick<SettingsOf<'service'>, 'account'>): ItemNaming {
  // Names of accounts are letters, digits, _ and -, so a pattern needs no escapes.
  const pattern = new RegExp(`(?<![\\w/#.-])${account}#(?<id>[\\w-]{1,64})(?![\\w/-])`, 'g');
  return {
    sign: 'TASK',
    prefix: `${account}#`,
    example: '12',
    linkedBy: 'its id at the service',
    howToLink: `name it in the text of the task as ${account}#12, or import links`,
    isItemId: (itemId) => /^[\w-]{1,64}$/.test(itemId),
    itemsIn: (text) => distinct(text, pattern),
  };
}

/** Items as the settings name them: by their addresses, and as `SIGN: id`. */
export function httpNaming({
  noun,
  sign,
  id,
  address,
}: Pick<HttpItems, 'noun' | 'sign' | 'id' | 'address'>): ItemNaming {
  const start = address === undefined ? '' : `${address}|`;
  return {
    ...named(sign, `the id of the ${noun}`, 'ID', address === undefined ? '' : 'by its address or '),
    howToCreate: 'describe how to create one in items.create of this target',
    // Ids are encoded in paths, but an encoded dot is a dot.
    isItemId: (itemId) => new RegExp(`^(?:${id})$`).test(itemId) && !/^\.{1,2}$/.test(itemId),
    itemsIn: (text) => distinct(text, new RegExp(`(?:${start}(?<!\\w)${sign}:\\s*)(?<id>${id})(?![\\w-])`, 'g')),
  };
}

function named(sign: string, linkedBy: string, example: string, byAddress = 'by its address or ') {
  const and = linkedBy.startsWith('the ') ? 'and ' : '';
  const howToLink = `name it in the text of the task ${byAddress}as ${sign}: ${and}${linkedBy}`;
  return { sign, prefix: `${sign}: `, linkedBy, howToLink, example };
}

type Groups = Readonly<Record<string, string | undefined>>;

function distinct(
  text: string,
  pattern: RegExp,
  itemIdOf: (groups: Groups) => string | undefined = ({ id }) => id,
): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(({ groups = {} }) => itemIdOf(groups) ?? []))];
}

function escaped(host: string): string {
  return host.replaceAll('.', '\\.');
}
