/** Writes docs/reasons.md from the table of reasons: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Reasons } from '../src/base/reasons/reason.ts';
import { REASON_AREAS, remedyFor } from '../src/base/reasons/reasons.ts';

const file = path.join(import.meta.dirname, 'reasons.md');

/** The end of many remedies, which the page says once. */
const REPLAY = /then deliver it again: `lockstep deliveries replay --target TARGET --verdict (?:dead|skipped)`/;

/** The page, whole. */
export function renderReasons(): string {
  const areas = Object.entries(REASON_AREAS).map(([title, reasons]) => `## ${title}\n\n${renderTable(reasons)}`);
  return `# Reasons

Generated from \`src/base/reasons/\` by \`npm run docs\`. Every row, file and delivery that is not simply done has a reason code. Codes are
stable: scripts may depend on them. \`lockstep runs show RUN --row N\` explains one row with all that is known about it.

Replace words in capitals by your own values. Where the last column is empty, there is nothing to do. To replay deliveries, run
\`lockstep deliveries replay --target TARGET --verdict dead\`, or \`--verdict skipped\` for those that were skipped.

${areas.join('\n')}`;
}

function renderTable(reasons: Reasons): string {
  const rows = Object.entries(reasons).map(([code, { meaning }]) => {
    const remedy = remedyFor(code, {})?.replace(REPLAY, 'then replay the delivery');
    const cells = [`\`${code}\``, meaning, remedy ?? ''];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  });
  return `| Code | Meaning | What to do |\n|---|---|---|\n${rows.join('')}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, renderReasons());
