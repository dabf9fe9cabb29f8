/** What a page is: its address, what it reads from it, and what it shows. */
import type { Child } from 'hono/jsx';
import type pg from 'pg';
import { z } from 'zod';
import type { Accounts } from '../engine/account/accounts.ts';
import type { HookServerNeeds } from '../mirror/inbound/hook-server.ts';
import type { SettingsCheck } from '../operator/settings-check.ts';
import { explainIssue } from '../settings/issues.ts';
import type { Settings } from '../settings/settings.ts';
import type { People, Person } from './access/people.ts';
import type { AssetName } from './assets.ts';
import type { Examinations } from './examinations.ts';
import type { Loads } from './loads/loads.ts';
import type { ConsoleNeeds } from './needs.ts';

export interface PageContext {
  readonly pool: pg.Pool;
  readonly settings: Settings;
  readonly person: Person;
  readonly checkSettings: () => Promise<SettingsCheck>;
  /** The budgets that this process uses. */
  readonly budgets: Accounts['budgets'];
  readonly openAccount: Accounts['open'];
  readonly targets: HookServerNeeds['targets'];
  readonly queue: ConsoleNeeds['queue'];
  readonly loads: Loads;
  readonly examinations: Examinations;
  /** The database, for messages about losing it. */
  readonly database: string;
  /** Completes a command with the options of this process. */
  readonly hint: (command: string) => string;
}

export type PagesNeeds = ConsoleNeeds & {
  readonly people: People;
  readonly loads: Loads;
  readonly examinations: Examinations;
};

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

export type Tab =
  | 'home'
  | 'runs'
  | 'load'
  | 'records'
  | 'review'
  | 'syncs'
  | 'deliveries'
  | 'links'
  | 'accounts'
  | 'settings'
  | 'activity';

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
    (schema ?? NOTHING).parse(given, { error: explainIssue }) as z.output<Schema>;
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
