/** Writes docs/gaps.md from the gaps of the contract: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Gap, gaps } from '../src/contract/gaps.ts';

const file = path.join(import.meta.dirname, 'gaps.md');

/** The page, whole. */
export function renderGaps(): string {
  const sections = [...new Set(gaps.map((gap) => gap.where))];
  const parts = sections.map((where) => {
    const entries = gaps.filter((gap) => gap.where === where).map(renderGap);
    return `## ${where}\n\n${entries.join('\n')}`;
  });
  return `# What the contract leaves open

Generated from \`src/contract/gaps.ts\` by \`npm run docs\`. Each gap has three answers: what our own service does, how our client
handles other services, and the setting that overrides it, if there is one.

${parts.join('\n')}`;
}

function renderGap({ id, question, ourService, clientDoes, override }: Gap): string {
  const setting = override === undefined ? '' : `- **Override:** \`${override}\`\n`;
  return `### ${id}

${question}

- **Our service:** ${ourService}
- **Our client:** ${clientDoes}
${setting}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, renderGaps());
