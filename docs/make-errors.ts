/** Writes docs/errors.md from the errors that the sources make: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { REASON_AREAS } from '../src/base/reasons/reasons.ts';
import { RUN_REASONS } from '../src/base/reasons/runs.ts';
import { type FoundError, findErrors } from './find-errors.ts';

const file = path.join(import.meta.dirname, 'errors.md');

/** The errors of src and jobs. */
export const found = findErrors(['../src', '../jobs'].map((folder) => path.join(import.meta.dirname, folder)));

/** What errors mean whose messages are made at run time. */
const MADE_AT_RUN_TIME = {
  CHOICE_NOT_POSSIBLE:
    'The decision cannot be taken. The message names the choices of the row, or says why the record cannot be chosen.',
  REVIEW_UNKNOWN: 'No row with this id waits for a decision, or rows of several accounts do.',
  RUN_FAILED: 'The run failed. The message says why.',
};

const meanings = new Map([
  ...Object.entries(MADE_AT_RUN_TIME),
  ...Object.values(REASON_AREAS).flatMap((reasons) =>
    Object.entries(reasons).map(([code, { meaning }]) => [code, meaning] as const),
  ),
]);

/** Where a code that is a reason, too, has its remedy: the heading of its table in reasons.md. */
const areas = new Map(
  Object.entries(REASON_AREAS).flatMap(([title, reasons]) =>
    Object.keys(reasons).map(
      (code) =>
        [
          code,
          title
            .toLowerCase()
            .replace(/[^\w ]/g, '')
            .replaceAll(' ', '-'),
        ] as const,
    ),
  ),
);

/** The page, whole. */
export function renderErrors(): string {
  const codes = new Set(found.errors.map(({ code }) => code));
  const onlyReasons = Object.keys(RUN_REASONS)
    .filter((code) => !codes.has(code))
    .map((code): FoundError => ({ code, exitCodes: new Set('3'), messages: new Set() }));
  const all = [...found.errors, ...onlyReasons].sort((a, b) => (a.code < b.code ? -1 : 1));
  return `# Error codes

Generated from the sources by \`npm run docs\`. An error has a stable code, a message and an exit code; with \`--json\` the code and the
message are in \`error\` on the last line of stdout. A run that failed or paused keeps both (\`lockstep runs show RUN\`).

Messages are shown as they are written in the code: words in capitals, and \`…\`, are filled in at run time. A message
says what to do where that is known. A code with a link is also the reason of a row, a file, a delivery or a run: [reasons.md](reasons.md)
says what to do about it. Exit code 2 is a usage or settings error, and 3 work that failed; without a number, the command decides.

| Code | Exit code | Message |
|---|---|---|
${all.map(renderRow).join('')}`;
}

function renderRow({ code, exitCodes, messages }: FoundError): string {
  const texts = messages.size > 0 ? [...messages].sort() : [meaningOf(code)];
  const area = areas.get(code);
  const name = area === undefined ? `\`${code}\`` : `[\`${code}\`](reasons.md#${area})`;
  const cells = [name, [...exitCodes].sort().join(' or '), texts.map(asMarkdown).join('<br>')];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

function meaningOf(code: string): string {
  const meaning = meanings.get(code);
  if (meaning === undefined) throw new Error(`${code} needs a meaning: its messages are made at run time`);
  return meaning;
}

/** A message is text, and the page is Markdown. */
const asMarkdown = (text: string) => text.replace(/[<>*`]/g, '\\$&');

if (process.argv[1] === import.meta.filename) writeFileSync(file, renderErrors());
