/** Protections of Lockstep, each removed from the source in turn: a named test must then fail. */

export interface Mutant {
  /** The protection that is removed. */
  readonly removes: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** The test file that fails. */
  readonly test: string;
}

export const MUTANTS: readonly Mutant[] = [
  {
    removes: 'the wait until what was sent must be visible',
    file: 'src/base/absence.ts',
    from: 'return 2 * settleMs;',
    to: 'return 0 * settleMs;',
    test: 'test/engine/ledger/matching/settle-orders.test.ts',
  },
  {
    removes: 'the check of lists by witnesses',
    file: 'src/engine/account/witnessing.ts',
    from: 'async judge(isProven: boolean): Promise<boolean> {',
    to: 'async judge(isProven: boolean): Promise<boolean> {\n    if (Date.now() > 0) return true;',
    test: 'test/e2e/witnesses.test.ts',
  },
  {
    removes: 'the identity of the tenant',
    file: 'src/engine/account/identity.ts',
    from: 'if (known !== undefined && known === bound) return',
    to: "if (bound !== undefined) return { status: 'known', scope: bound };\n  if (known !== undefined && known === bound) return",
    test: 'test/e2e/identity.test.ts',
  },
  {
    removes: 'the check that a claim is still held',
    file: 'src/engine/ledger/claims.ts',
    from: 'if (held.rowCount === 0) throw new ClaimLost();',
    to: '',
    test: 'test/engine/ledger/claims.test.ts',
  },
  {
    removes: 'the stop of the budget after a 429',
    file: 'src/client/budget/postgres-store.ts',
    from: "void (await ask('block', 'select budget.block($1, $2)', [key, forMs * 1000]))",
    to: 'void (await [key, forMs])',
    test: 'test/client/budget/postgres-store.test.ts',
  },
  {
    removes: 'the audit of rows that were sent again',
    file: 'src/engine/ledger/audit-debts.ts',
    from: 'from unnest($3::bigint[]) chosen (n) join ledger.inputs i on i.run_id = $1 and i.n = chosen.n',
    to: 'from unnest($3::bigint[]) chosen (n) join ledger.inputs i on i.run_id = $1 and i.n = chosen.n and false',
    test: 'test/engine/ledger/audit-debts.test.ts',
  },
  {
    removes: 'one form for an e-mail, however it is written',
    file: 'src/syncs/customers/keys.ts',
    from: "normalize('NFC').trim().toLowerCase()",
    to: "normalize('NFC').trim()",
    test: 'test/jobs/contact-matching.test.ts',
  },
  {
    removes: 'the tenant of a list of the service',
    file: 'src/service/store/lists.ts',
    from: 'where tenant_id = $1 $',
    to: 'where $1::bigint is not null $',
    test: 'test/service/tenant-matrix.test.ts',
  },
  {
    removes: 'the refusal of symbolic links in a watched folder',
    file: 'src/syncs/orders/folder.ts',
    from: 'O_RDONLY | O_NOFOLLOW | O_NONBLOCK)',
    to: 'O_RDONLY | O_NONBLOCK)',
    test: 'test/syncs/orders/folder.test.ts',
  },
  {
    removes: 'the guard against formulas in results',
    file: 'src/csv/result-files.ts',
    from: 'quoted(guarded(cell), ',
    to: 'quoted(cell, ',
    test: 'test/csv/result-files.test.ts',
  },
  {
    removes: 'the look at what people changed at a target before a delivery overwrites it',
    file: 'src/mirror/inbound/changed-there.ts',
    from: 'if (stateBefore(sides, isCompleted) !== task.isCompleted)\n',
    to: 'if (stateBefore(sides, isCompleted) !== isCompleted)\n',
    test: 'test/mirror/inbound/read-back.test.ts',
  },
  {
    removes: 'the end of transactions whose host is lost',
    file: 'src/storage/pool.ts',
    from: "  idle_in_transaction_session_timeout: '60s',\n",
    to: '',
    test: 'test/storage/lost-connections.test.ts',
  },
  {
    removes: 'the count of records that moved while a list was read',
    file: 'src/client/lists/drift.ts',
    from: 'return this.#came + newFirst > 0;',
    to: 'return this.#came + newFirst > Infinity;',
    test: 'test/client/lists/scan-drift.test.ts',
  },
];
