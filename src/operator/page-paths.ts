/** Addresses of pages of the console: alerts name them, too. */

export interface About {
  readonly kind: 'run' | 'account' | 'target' | 'sync';
  readonly name: string;
}

/** The page about a thing; a sync has none of its own. */
export function pageAbout({ kind, name }: About): string {
  return kind === 'sync' ? '/syncs' : `/${kind}s/${encodeURIComponent(name)}`;
}

export const accountPath = (name: string) => pageAbout({ kind: 'account', name });
export const targetPath = (name: string) => pageAbout({ kind: 'target', name });
