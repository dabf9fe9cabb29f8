/** How issues of GitHub are named, `owner/repo#12`, and how a text names them. Pure. */

/** A name may not climb out of its place in a path: `..` is no repository. */
const OWNER = '[A-Za-z\\d][\\w-]{0,99}';
const REPO = '(?!\\.{1,2}(?![\\w.-]))[\\w.-]{1,100}';
const NUMBER = '\\d{1,9}';

export interface GithubPlace {
  /** Host of the pages, not of the API. */
  readonly webHost: string;
  /** With one, other owners' issues are not taken from texts: whoever writes a task may not reach every repository. */
  readonly owner: string | undefined;
  readonly repo: string | undefined;
}

export function isGithubItem(itemId: string): boolean {
  return new RegExp(`^${OWNER}/${REPO}#${NUMBER}$`).test(itemId);
}

/** In lower case, as GitHub itself does not tell the cases of names apart: one issue has one name here. */
export function githubItemId(owner: string, repo: string, number: number | string): string {
  return `${owner}/${repo}#${number}`.toLowerCase();
}

/** The host of the pages that belong to an API at `url`: api.github.com → github.com, api.HOST.ghe.com → HOST.ghe.com. */
export function webHostOf(url: string): string {
  const { host } = new URL(url);
  return host === 'api.github.com' || host.endsWith('.ghe.com') ? host.replace(/^api\./, '') : host;
}

/** In the order of the text, each once: addresses of issues, `owner/repo#12`, and `#12` and `GH: 12` of the place's own repository. */
export function githubItemsIn(text: string, { webHost, owner, repo }: GithubPlace): string[] {
  const host = webHost.replaceAll(/[.]/g, '\\.');
  // Not within a longer word, an address or a character reference such as &#39;
  const start = '(?<![\\w/&#.-])';
  const pattern = new RegExp(
    [
      `https?://(?:www\\.)?${host}/(?<urlOwner>${OWNER})/(?<urlRepo>${REPO})/issues/(?<urlNumber>${NUMBER})(?![\\w-])`,
      `${start}(?<owner>${OWNER})/(?<repo>${REPO})#(?<number>${NUMBER})(?![\\w-])`,
      `${start}(?:#|GH:\\s*#?)(?<own>${NUMBER})(?![\\w-])`,
    ].join('|'),
    'g',
  );
  const items = new Set<string>();
  for (const { groups = {} } of text.matchAll(pattern)) {
    const theOwner = groups.urlOwner ?? groups.owner ?? owner;
    const theRepo = groups.urlRepo ?? groups.repo ?? repo;
    if (theOwner === undefined || theRepo === undefined) continue;
    if (owner !== undefined && theOwner.toLowerCase() !== owner.toLowerCase()) continue;
    items.add(githubItemId(theOwner, theRepo, groups.urlNumber ?? groups.number ?? groups.own ?? ''));
  }
  return [...items];
}
