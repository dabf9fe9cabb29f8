/** The texts of the demo: what the workspace contains, the results, and what to try next. */
import { formatCount, plural } from '../../base/counts.ts';
import { statementFor } from '../../base/reasons/reasons.ts';
import type { ReportedRow } from '../../engine/ledger/views/row-pages.ts';
import { exportCommand } from '../../operator/problem-rows.ts';
import type { RunReport } from '../../operator/report.ts';
import { firstRows, problemsIn } from '../../operator/run-report.ts';
import type { SeededTenant } from '../../service/testbed/seed.ts';
import type { Queryable } from '../../storage/queryable.ts';

const EXAMPLES = 3;
const ROWS_TO_CHOOSE_FROM = 200;

export function workspaceLines(tenant: SeededTenant, neighbour: SeededTenant, traits: Traits): readonly string[] {
  const { customers, orders, tasks } = tenant.counts;
  const shared = traits.sharedEmail === null ? '' : `, such as ${traits.sharedEmail}`;
  return [
    `The workspace "${tenant.name}" holds ${plural(traits.contacts, 'contact')}, of which`,
    `  ${formatCount(traits.sharingEmail)} share their e-mail with another contact${shared}`,
    `  ${formatCount(traits.withoutEmail)} have no e-mail; ${formatCount(traits.oddlySpelt)} have one with capitals or spaces`,
    `  ${formatCount(traits.beyondAscii)} have names beyond ASCII, such as ${traits.names.join(', ')}`,
    `and ${plural(customers, 'customer')} that were made by hand, ${plural(orders, 'order')}, ${plural(tasks, 'task')}.`,
    `The second tenant "${neighbour.name}" (${plural(neighbour.counts.contacts, 'contact')}) has another key and is not changed.`,
  ];
}

/** A few example rows: how one was matched, and why others need a person. */
export async function exampleLines(db: Queryable, report: RunReport): Promise<readonly string[]> {
  const matched = await firstRows(db, report.run, 1, 'existing');
  const review = distinct(await firstRows(db, report.run, ROWS_TO_CHOOSE_FROM, 'review'));
  const lines = matched.map((row) => `  e.g. ${nameOf(row)} is already customer ${row.recordId}: ${storyOf(row)}`);
  if (problemsIn(report.counts) === 0) return lines;
  return [
    ...lines,
    `  Nothing is guessed: ${plural(problemsIn(report.counts), 'contact')} ${problemsIn(report.counts) === 1 ? 'is' : 'are'} left for a person to decide, such as`,
    ...review.map((row) => `    ${nameOf(row)}: ${storyOf(row)}`),
  ];
}

/** One row per statement: a family that shares a mailbox has one statement. */
function distinct(rows: readonly ReportedRow[]): readonly ReportedRow[] {
  const byStory = new Map(rows.map((row) => [`${row.reason} ${storyOf(row)}`, row]));
  return [...byStory.values()].slice(0, EXAMPLES);
}

const storyOf = ({ reason, facts }: ReportedRow) => statementFor(reason, facts);

function nameOf(row: ReportedRow): string {
  return row.label ?? `contact ${row.sourceId}`;
}

/** Numbers and examples of what makes the sample workspace as hard to import as a real one. */
interface Traits {
  readonly contacts: number;
  readonly withoutEmail: number;
  /** Contacts that share their e-mail, and one such e-mail. */
  readonly sharingEmail: number;
  readonly sharedEmail: string | null;
  /** Contacts whose e-mail has capitals or spaces. */
  readonly oddlySpelt: number;
  /** Names that are not all ASCII, and a few of them. */
  readonly beyondAscii: number;
  readonly names: readonly string[];
}

/** Reads the service's own tables, because the demo shows the workspace before Lockstep has read it. */
export async function readTraits(db: Queryable, tenantId: number): Promise<Traits> {
  const found = await db.query<Traits>(
    `with contact as (
       select fields->>'email' as written, nullif(lower(trim(fields->>'email')), '') as email,
         concat_ws(' ', fields->>'first_name', fields->>'last_name') as name, id
       from service.contacts where tenant_id = $1
     ), counted as (
       select *, case when email is not null then count(*) over (partition by email) else 0 end as sharing from contact
     )
     select count(*)::int as contacts,
       (count(*) filter (where email is null))::int as "withoutEmail",
       (count(*) filter (where sharing > 1))::int as "sharingEmail",
       min(email) filter (where sharing > 2) as "sharedEmail",
       (count(*) filter (where email <> written))::int as "oddlySpelt",
       (count(*) filter (where name ~ '[^ -~]'))::int as "beyondAscii",
       (array_agg(name order by id) filter (where name ~ '[^ -~]'))[1:3] as names
     from counted`,
    [tenantId],
  );
  const [traits] = found.rows;
  if (!traits) throw new Error('an aggregate without rows'); // unreachable: an aggregate without group by returns a row
  return traits;
}

interface Next {
  /** Relative to the user's current directory. */
  readonly dataDir: string;
  /** Adds to a command the settings and the data of the demo. */
  readonly complete: (command: string) => string;
  readonly url: string;
  readonly key: string;
  /** Undefined if the data was removed. */
  readonly consoleUrl: string | undefined;
  readonly first: RunReport;
}

export function tryNextLines({ dataDir, complete, url, consoleUrl, key, first }: Next): readonly string[] {
  if (consoleUrl === undefined) {
    return [
      'The data was removed, so the commands above no longer work. Next, you could',
      '  keep the data, look around:      npx lockstep demo --keep',
      '  fill a workspace of your own:    npx lockstep service seed --tenant demo',
      '  plan its import, then run it:    npx lockstep run nightly-contacts --init --dry-run, then without --dry-run',
      '  use your own service and key:    edit config/lockstep.yaml (--init creates it), then npx lockstep settings check',
    ];
  }
  return [
    `The data is kept in ${dataDir}. While this runs, you could`,
    `  look around in a browser:   ${consoleUrl}`,
    `  see what was decided:       npx ${complete(`runs show ${first.run}`)}`,
    `  load the orders again:      npx ${complete(`orders load ${dataDir}/bestellungen.csv --account demo`)}`,
    `  export what needs a person: npx ${exportCommand(first, 'review', complete)}`,
    `  browse the service's API:   ${url}/docs`,
    `  call it:                    curl -H 'API_KEY: ${key}' '${url}/api/v1/contacts/search?search_term=an'`,
    'Press Ctrl-C to stop.',
  ];
}
