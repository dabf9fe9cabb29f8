/**
 * Writes the table of the operations of vendors into docs/targets/tested.md: which of the answers that a vendor documents the tests
 * have seen. It runs the tests of the targets: `npm run docs:vendors`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const page = path.join(root, 'docs/targets/tested.md');
const [BEGIN, END] = ['<!-- vendors: made by `npm run docs:vendors` -->', '<!-- end of vendors -->'];
const VENDORS = ['github', 'jira', 'asana', 'todoist', 'oauth'];
const TESTS = [
  ...['github', 'jira', 'asana', 'todoist', 'linear', 'details', 'detail-faults', 'check', 'tokens'].map(
    (name) => `targets/${name}`,
  ),
  'inbound/vendor-hooks',
].map((file) => `test/mirror/${file}.test.ts`);

/** An answer to an operation, as `vendor operation answer` with tabs between them. */
type Seen = ReadonlySet<string>;

/** The rows: operations with the answers that their document names; those with the same answers share a row. */
export function renderVendors(seen: Seen): string {
  const documented = VENDORS.flatMap((vendor) => {
    const text = readFileSync(path.join(root, `test/vendors/${vendor}.json`), 'utf8');
    const { operations } = JSON.parse(text) as { operations: Record<string, { answers: object }> }; // safe: a file of this repository
    return Object.entries(operations).map(([operation, { answers }]) => ({
      vendor,
      operation,
      answers: Object.keys(answers),
    }));
  });
  const queries = new Set(
    [...seen].filter((each) => each.startsWith('linear\t')).map((each) => each.split('\t')[1] ?? ''),
  );
  const ofLinear = [...queries]
    .sort()
    .map((operation) => ({ vendor: 'linear', operation, answers: ['data', 'errors'] }));
  const groups = new Map<string, string[]>();
  for (const { vendor, operation, answers } of [...documented, ...ofLinear]) {
    const isSeen = (answer: string) => seen.has([vendor, operation, answer].join('\t'));
    const unseen = answers.filter((answer) => !isSeen(answer));
    const ends = `${answers.filter(isSeen).join(', ') || '–'} | ${unseen.join(', ') || '–'} |`;
    const group = `${vendor}\t${ends}`;
    groups.set(group, [...(groups.get(group) ?? []), `\`${operation}\``]);
  }
  const rows = [...groups].map(([group, alike]) => {
    const [vendor, ends] = group.split('\t');
    return `| ${vendor} | ${alike.join('<br>')} | ${ends}`;
  });
  return `| vendor | operations | answers in tests | other documented answers |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** The table in the page. */
export function tableIn(text: string): string {
  return text.slice(text.indexOf(BEGIN) + BEGIN.length + 1, text.indexOf(END));
}

/** What the table says was seen. */
export function seenIn(table: string): Seen {
  const cells = table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  return new Set(
    cells.flatMap(([, vendor, alike = '', answers = '–']) =>
      answers === '–'
        ? []
        : alike
            .split('<br>')
            .flatMap((operation) => answers.split(', ').map((answer) => [vendor, operation, answer].join('\t'))),
    ),
  );
}

function main(): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'lockstep-vendors-'));
  const file = path.join(folder, 'exercised');
  try {
    const env = { ...process.env, EXERCISED: file };
    execFileSync('npx', ['vitest', 'run', ...TESTS], { cwd: root, env, stdio: 'inherit' });
    const seen = new Set(readFileSync(file, 'utf8').split('\n'));
    const text = readFileSync(page, 'utf8');
    writeFileSync(page, text.replace(`${BEGIN}\n${tableIn(text)}`, `${BEGIN}\n${renderVendors(seen)}`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === import.meta.filename) main();
