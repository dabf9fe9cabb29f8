/** Sentences of Lockstep, with what a page adds to them. */
import { createContext, useContext } from 'hono/jsx';
import { shortened } from '../../base/texts.ts';
import { visible } from '../../base/visible.ts';
import { addressOf, Time } from './parts.tsx';

/** A time or a run in a sentence, unless it is quoted, as a cell of a file is. */
const NAMED = /(?<!["\w])(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|run-\d{6}-\d{4}-[\da-f]{6})(?!["\w])/;
/** The option of a command that does what the sentence says before it: pages have a field for it. */
const OPTION = / \(`--[^`]*`\)/g;
/** The page that does what a command does. */
const PAGES: readonly (readonly [command: RegExp, page: (name: string) => string])[] = [
  [/^runs (?:show|resume) (\S+)/, (run) => `/runs/${run}`],
  [/^runs retry (\S+)/, (run) => addressOf('/confirm', { action: 'retry', run })],
  [/^runs cancel (\S+)/, (run) => addressOf('/confirm', { action: 'cancel', run })],
  [/^run /, () => '/syncs'],
  [/^orders load /, () => '/load'],
  [/^review\b/, () => '/review'],
  [/^deliveries enable (\S+)/, (target) => `/targets/${target}`],
  [/^deliveries --target (\S+)/, (target) => addressOf('/deliveries', { target })],
  [
    /^deliveries replay --target (\S+) --verdict dead/,
    (target) => addressOf('/deliveries', { target, verdict: 'dead' }),
  ],
  [/^deliveries replay --id (\S+)/, (delivery) => `/deliveries/${delivery}`],
  [/^links (?:import|remove) --target (\S+)/, (target) => addressOf('/links', { target })],
  [/^accounts (?:rebind|fresh) (\S+)/, (account) => `/accounts/${account}`],
  [/^doctor --account (\S+)/, (account) => `/accounts/${account}`],
];

/** Completes a command with the options of this process: a sentence may come from the ledger, which has it without them. */
export const CommandHint = createContext((command: string) => `lockstep ${command}`);

/** A sentence of Lockstep: its commands in backticks, each with the page that does the same, and its times in the zone of the viewer. */
export function Words({ text: told, most }: { readonly text: string; readonly most?: number }) {
  const text = told.replaceAll(OPTION, '');
  const parts = shortened(text, most ?? text.length).split('`');
  return (
    <bdi class="foreign">
      {parts.map((part, i) =>
        i % 2 === 1 ? <CommandWords text={part} isWhole={i < parts.length - 1} /> : part.split(NAMED).map(withNamed),
      )}
    </bdi>
  );
}

function withNamed(part: string, i: number) {
  if (i % 2 === 1 && part.startsWith('run-')) return <a href={`/runs/${part}`}>{part}</a>;
  return i % 2 === 1 && !Number.isNaN(Date.parse(part)) ? <Time at={part} exact /> : visible(part);
}

/** A command that is cut leads nowhere, and is not completed. */
function CommandWords({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  const hint = useContext(CommandHint);
  const command = isWhole ? /^lockstep (.*)/s.exec(text)?.[1] : undefined;
  const page = command === undefined ? undefined : pageOf(command);
  return (
    <>
      <code>{visible(command === undefined ? text : hint(command))}</code>
      {page !== undefined && (
        <>
          {' ('}
          <a href={page}>or here</a>)
        </>
      )}
    </>
  );
}

function pageOf(command: string): string | undefined {
  for (const [form, page] of PAGES) {
    const found = form.exec(command);
    if (found) return page(found[1] ?? '');
  }
  return undefined;
}
