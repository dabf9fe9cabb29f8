/** What the demo says: what is in the workspace, what came of it, and what to try next. */
import type { ReportedRow } from '../../engine/ledger/rows.ts';
import type { Queryable } from '../../engine/ledger/runs.ts';
import { statementFor } from '../../reasons/reasons.ts';
import type { SeededTenant } from '../../service/seed.ts';
import { firstRows, problemsIn, type RunReport } from '../run-report.ts';
import { formatCount, plural } from '../words.ts';
import type { Traits } from './traits.ts';

const EXAMPLES = 3;
const ROWS_TO_CHOOSE_FROM = 200;

export function workspaceLines(tenant: SeededTenant, neighbour: SeededTenant, traits: Traits): readonly string[] {
  const { customers, orders, tasks } = tenant.counts;
  const shared = traits.sharedEmail === null ? '' : `, such as ${traits.sharedEmail}`;
  return [
    `The workspace "${tenant.name}" holds ${plural(traits.contacts, 'contact')}, of which`,
    `  ${formatCount(traits.sharingEmail)} share their e-mail with another one${shared}`,
    `  ${formatCount(traits.withoutEmail)} have no e-mail, ${formatCount(traits.oddlySpelt)} one with capitals or blanks`,
    `  ${formatCount(traits.beyondAscii)} have names beyond ASCII, such as ${traits.names.join(', ')}`,
    `and ${plural(customers, 'customer')} that somebody has made by hand, ${plural(orders, 'order')}, ${plural(tasks, 'task')}.`,
    `Its neighbour "${neighbour.name}" (${plural(neighbour.counts.contacts, 'contact')}) has another key and is not touched.`,
  ];
}

/** A few rows by name: how one was matched, and why others are left to a person. */
export async function exampleLines(db: Queryable, report: RunReport): Promise<readonly string[]> {
  const matched = await firstRows(db, report.run, 1, 'existing');
  const review = distinct(await firstRows(db, report.run, ROWS_TO_CHOOSE_FROM, 'review'));
  const lines = matched.map((row) => `  e.g. ${nameOf(row)} is customer ${row.recordId} already: ${storyOf(row)}`);
  if (problemsIn(report.counts) === 0) return lines;
  return [
    ...lines,
    `  Nothing is guessed: ${plural(problemsIn(report.counts), 'contact')} wait for a person, such as`,
    ...review.map((row) => `    ${nameOf(row)}: ${storyOf(row)}`),
  ];
}

/** The first row of each story: a family that shares a mailbox is one. */
function distinct(rows: readonly ReportedRow[]): readonly ReportedRow[] {
  const byStory = new Map(rows.map((row) => [`${row.reason} ${storyOf(row)}`, row]));
  return [...byStory.values()].slice(0, EXAMPLES);
}

const storyOf = ({ reason, facts }: ReportedRow) => statementFor(reason, facts);

function nameOf(row: ReportedRow): string {
  return row.label ?? `contact ${row.sourceId}`;
}

export interface Next {
  /** Relative to where the user stands. */
  readonly dataDir: string;
  readonly url: string;
  readonly key: string;
  readonly isKept: boolean;
  readonly first: RunReport;
}

export function tryNextLines({ dataDir, url, key, isKept, first }: Next): readonly string[] {
  if (!isKept) {
    return [
      'The data are removed again. Next, you could',
      '  keep them and look around:       npm run demo -- --keep',
      '  fill a workspace of your own:    npx lockstep service seed --tenant demo',
      '  plan its import, and do it:      npx lockstep run nightly-contacts --dry-run, then without --dry-run',
      '  use your own service and key:    edit config/lockstep.yaml, then npx lockstep settings check',
    ];
  }
  return [
    `The data stay in ${dataDir}. While this runs, you could`,
    `  look at what was decided:   npx lockstep runs show ${first.run} --data ${dataDir}`,
    `  load the orders once more:  npx lockstep orders load ${dataDir}/bestellungen.csv --account demo --data ${dataDir}`,
    `  export what needs a person: npx lockstep runs export ${first.run} --verdict review --out review.csv --data ${dataDir}`,
    `  browse the service's API:   ${url}/docs`,
    `  call it:                    curl -H 'API_KEY: ${key}' '${url}/api/v1/contacts/search?search_term=an'`,
    'Ctrl-C ends it.',
  ];
}
