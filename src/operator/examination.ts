/** Examines the service of an account for the command line and the console, and keeps the report in the ledger. */
import type pg from 'pg';
import { EMBEDDED } from '../engine/account/account.ts';
import type { Accounts } from '../engine/account/accounts.ts';
import { keepCutOff } from '../engine/account/cut-off-lists.ts';
import { forgetShapes } from '../engine/account/list-shapes.ts';
import { scopeNamed } from '../engine/ledger/scopes/scopes.ts';
import { accountNamed, type Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { type ExamineOptions, examine, type Report } from './doctor/examine.ts';
import type { ProbedAccount } from './doctor/probed-account.ts';

export interface ExaminationNeeds {
  readonly pool: pg.Pool;
  readonly settings: Settings;
  readonly accounts: Pick<Accounts, 'inspect'>;
}

/** @throws LockstepError if the settings do not have the account, or its secret cannot be read */
export async function examineAccount(
  { pool, settings, accounts }: ExaminationNeeds,
  name: string,
  options: ExamineOptions,
): Promise<Report> {
  const { prefix, authorization, budget } = accountNamed(settings, name);
  const account = await accounts.inspect(name);
  const probed: ProbedAccount = {
    ...account,
    isEmbedded: account.service === EMBEDDED,
    prefix,
    hasAuthorization: authorization !== undefined,
    ratePerSecond: budget.mode === 'discover' ? undefined : account.ratePerSecond,
  };
  try {
    const report = await examine(probed, options);
    const scope = await scopeNamed(pool, name);
    if (report.stopped === undefined) await keepFindings(pool, scope, report);
    if (options.signal?.aborted !== true) await keepReport(pool, scope, report);
    return report;
  } finally {
    await account.close();
  }
}

/** What the next runs use: they learn the shapes of answers again, and know which lists are cut off. */
async function keepFindings(db: pg.Pool, scope: string, { findings }: Report): Promise<void> {
  await forgetShapes(db, scope);
  for (const kind of ['customers', 'orders'] as const) {
    await keepCutOff(db, scope, kind, findings.find(({ cutsOff }) => cutsOff === kind)?.found);
  }
}

async function keepReport(db: Queryable, scope: string, report: Report): Promise<void> {
  await db.query(
    `insert into ledger.examinations (scope, report) values ($1, $2)
     on conflict (scope) do update set report = excluded.report, at = clock_timestamp()`,
    [scope, report],
  );
}

/** The last report about the tenant's service, from whichever process examined it. */
export async function lastExamination(
  db: Queryable,
  scope: string,
): Promise<{ readonly at: Date; readonly report: Report } | undefined> {
  // Safe: `keepReport` wrote it.
  const found = await db.query<{ at: Date; report: Report }>(
    'select at, report from ledger.examinations where scope = $1',
    [scope],
  );
  return found.rows[0];
}
