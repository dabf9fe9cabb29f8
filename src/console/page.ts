/** What a page is: its address, what it reads from it, and what it shows. */
import type { Child } from 'hono/jsx';
import { z } from 'zod';
import type { Settings } from '../settings/settings.ts';
import type { Person } from './access/people.ts';
import type { AssetName } from './assets.ts';
import { readGiven } from './read-given.ts';
import type { SharedNeeds } from './shared-needs.ts';

/** A page reads no secrets. */
export interface PageContext extends Omit<SharedNeeds, 'settings' | 'people' | 'readSecret'> {
  readonly settings: Settings;
  readonly person: Person;
  /** Whether the person may change anything. */
  readonly canAct: boolean;
}

export interface Shown {
  readonly title: string;
  /** The part of the navigation that the page belongs to. */
  readonly tab: Tab | undefined;
  /** The command that shows the same, without options of this process. */
  readonly command?: string;
  /** Stays as it is while the page is open, such as filters. */
  readonly head?: Child;
  /** Read again while the page is open, and sent to its viewers when it has changed. */
  readonly body: Child;
  /** Whether something on it is under way, so that it is read every second. Default: false, every 5 s. */
  readonly isBusy?: boolean;
  /** The page that continues a search which has found nothing yet: it is read at once, instead of this one. */
  readonly continuesAt?: string | undefined;
  /** Styles and scripts that other pages do not use. */
  readonly assets?: readonly AssetName[];
  /** Whether it stays as it is: nothing on it changes by itself. */
  readonly isStill?: boolean;
}

export interface Elsewhere {
  readonly path: string;
}

/** The context of a page that is shown now. */
export function contextOf(needs: SharedNeeds, person: Person): PageContext {
  return { ...needs, settings: needs.settings(), person, canAct: person.role === 'operator' };
}

/** The navigation: the path and the label of each part. */
export const TABS = {
  home: ['/', 'Home'],
  runs: ['/runs', 'Runs'],
  load: ['/load', 'Load a file'],
  records: ['/records', 'Records'],
  review: ['/review', 'Review'],
  syncs: ['/syncs', 'Syncs'],
  deliveries: ['/deliveries', 'Deliveries'],
  links: ['/links', 'Links'],
  accounts: ['/accounts', 'Accounts'],
  settings: ['/settings', 'Settings'],
  activity: ['/activity', 'Activity'],
} as const;
export type Tab = keyof typeof TABS;

export interface Page {
  readonly path: string;
  readonly show: (context: PageContext, given: Given) => Promise<Shown | Elsewhere>;
}

interface Given {
  readonly params: unknown;
  readonly query: unknown;
}

const NOTHING = z.object({});

/** Without `params` or `query` it reads none. @throws ZodError if the address does not fit the schemas; the page's own LockstepErrors */
export function definePage<Params extends z.ZodType, Query extends z.ZodType>(spec: {
  readonly path: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly show: (
    context: PageContext,
    given: { readonly params: z.output<Params>; readonly query: z.output<Query> },
  ) => Promise<Shown | Elsewhere>;
}): Page {
  const { path, params, query, show } = spec;
  // Safe: without a schema there are no values.
  const read = <Schema extends z.ZodType>(schema: Schema | undefined, given: unknown) =>
    readGiven(schema ?? NOTHING, given) as z.output<Schema>;
  return {
    path,
    show: async (context, given) =>
      show(context, { params: read(params, given.params), query: read(query, filledIn(Object(given.query))) }),
  };
}

/** A form sends a field that was left empty as an empty text. */
export function filledIn<Value>(sent: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''));
}
