/** `lockstep activity`: what people and programs did in the console and through its API. */
import { listActions } from '../../engine/ledger/console/console-actions.ts';
import { formatTime } from '../../operator/format.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { wholeNumber } from './arguments.ts';

const DEFAULT_LIMIT = 50;

interface ListOptions {
  readonly limit: number;
  readonly about?: string;
}

export function define(activity: Command, perform: Perform): void {
  activity
    .description(
      'Lists what people did in the console, and programs through its API, the newest first: who, what, and whether it ' +
        'was refused. Commands in a terminal are not listed: a person who can run them can also change the ledger.',
    )
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .option('--about <name>', 'only of this run, sync, target or account')
    .examples(`
  $ lockstep activity
  $ lockstep activity --about nightly-contacts --json`)
    .action(perform(list));
}

async function list(session: Session, options: ListOptions): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  const actions = await listActions(pool, options);
  const rows = actions.map(({ at, who, via, action, about, refused }) => [
    formatTime(at),
    who,
    via === 'api' ? 'API' : 'console',
    action,
    about,
    refused === undefined ? 'done' : `refused: ${refused}`,
  ]);
  out.table(['TIME', 'WHO', 'FROM', 'ACTION', 'ABOUT', 'OUTCOME'], rows, {
    none: 'No one has done anything in the console or through its API yet.',
  });
  out.result({ actions: actions.map(({ refused, ...action }) => ({ ...action, refused: refused ?? null })) });
}
