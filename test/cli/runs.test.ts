import { expect, test } from 'vitest';
import { noteAttended, noteLeft } from '../../src/engine/ledger/attended-runs.ts';
import { dropClaims } from '../../src/engine/ledger/claims.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, pauseRun } from '../../src/engine/ledger/run-status.ts';
import { addNote, readRun } from '../../src/engine/ledger/runs.ts';
import { resumeAccount, suspendByHand } from '../../src/engine/ledger/scopes/suspensions.ts';
import { claimOn, WORKER } from '../engine/ledger/fresh-ledger.ts';
import { openLedgerRuns } from './ledger-runs.ts';

const { database, runWith, runs } = await openLedgerRuns();

test('shows a run with its counts, its reasons by frequency, and the first rows for a person', async () => {
  const id = await runWith(
    [
      '1 created - Ann',
      '2 review AMBIGUOUS_MATCH Ben',
      '3 review AMBIGUOUS_MATCH Cho',
      '4 rejected REFUSED_BY_SERVICE Dee',
    ],
    'done',
  );
  const { code, json } = await runs('show', id, '--json');
  expect(code).toBe(0);
  expect(json).toMatchObject({ run: id, status: 'done', counts: { in: 4, created: 1, review: 2, rejected: 1 } });
  expect(json.reasons[0]).toEqual({ verdict: 'review', reason: 'AMBIGUOUS_MATCH', count: 2 });
  const { stdout } = await runs('show', id);
  expect(stdout).toMatch(
    /2 rows in review:\n {2}2 × AMBIGUOUS_MATCH, Ben, Cho\n {6}The contact matches .*\n {6}Fix: .*\n/,
  );
  expect(stdout).toContain(`lockstep runs export ${id} --verdict rejected --out ${id}.rejected.csv`);
});

test('shows what a dry run would write, and how to export all of it', async () => {
  const rows = Array.from({ length: 25 }, (_, n) => `${n} created PLANNED Contact ${n}`);
  const id = await runWith([...rows, 'x updated PLANNED Changed'], 'done', { dryRun: true });
  const { stdout } = await runs('show', id);
  expect(stdout).toMatch(/25 {2}would be created\n +1 {2}would be updated\n/);
  expect(stdout).toMatch(
    /Contact 0\n[\s\S]*Contact 19\n {2}… and 6 more\nTo see all that would be created: lockstep runs export .* created.*\nTo see all that would be updated: lockstep runs export .* updated/,
  );
});

test('lists the newest runs, up to the given number', async () => {
  const [older, newer] = [await runWith(['1 created -'], 'done'), await runWith(['1 unchanged -'], 'done')];
  const { json } = await runs('--limit', '2', '--json');
  expect(json.runs.map((run: { run: string }) => run.run)).toEqual([newer, older]);
  const { stdout } = await runs('--limit', '1');
  expect(stdout).toMatch(new RegExp(`^RUN .*\\n${newer} .* done .* 1 unchanged\\n$`));
});

test('rows without a verdict are split into sent, not confirmed and never sent; for scripts they are unknown', async () => {
  const id = await runWith(['1 created -']);
  await addRows(database.pool, id, [{ n: 1, sourceId: 'waiting', label: 'waiting' }]);
  expect((await runs('--limit', '1')).stdout).toMatch(/ waiting for a worker .* 1 created, 1 not sent yet\n$/);
  expect((await runs('--limit', '1', '--json')).json.runs[0].counts).toMatchObject({ created: 1, unknown: 1 });
  await endRun(database.pool, id, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
  expect((await runs('--limit', '1')).stdout).toMatch(/ failed \(SERVICE_AWAY\) .* 1 created, 1 never sent\n$/);
});

test('a note that the error of the run repeats is shown once', async () => {
  const id = await runWith(['1 created -']);
  await addNote(database.pool, id, 'connection closed.');
  await endRun(database.pool, id, 'failed', { code: 'SERVICE_AWAY', message: 'No call: connection closed. Fix that' });
  const { stdout } = await runs('show', id);
  expect(stdout.match(/connection closed/g)).toHaveLength(1);
});

test('a run whose calls never reached the service says so', async () => {
  const away = await runWith([]);
  await endRun(database.pool, away, 'failed', { code: 'SERVICE_AWAY', message: 'connection refused' });
  expect((await runs('show', away)).stdout).toMatch(/^ +0 {2}calls reached the service/m);
  const quiet = await runWith(['1 invalid -'], 'done');
  expect((await runs('show', quiet)).stdout).toMatch(/^ +0 {2}calls made/m);
});

test('what a dry run counts as created and updated would be created and updated', async () => {
  const id = await runWith(['1 created PLANNED', '2 updated PLANNED', '3 existing -'], 'done', { dryRun: true });
  const { stdout } = await runs();
  const line = stdout.split('\n').find((one) => one.includes(id));
  expect(line).toMatch(/nightly-contacts \(dry\) .* 1 would be created, 1 would be updated, 1 existing$/);
});

test('shows a run without a worker as interrupted, and does not count that time', async () => {
  const id = await runWith(['1 created -']);
  await addRows(database.pool, id, [{ n: 1, sourceId: 'waiting', label: 'waiting' }]);
  await noteAttended(database.pool, [id], WORKER);
  const stateNow = async () => (await runs('show', id, '--json')).json;
  expect(await stateNow()).toMatchObject({ state: 'running', unsettled: { sent: 0, neverSent: 1 } });
  await noteLeft(database.pool, [id]);
  expect((await stateNow()).state).toBe('interrupted');
  await database.pool.query(`update ledger.runs set attended_at = created_at + interval '1 min' where id = $1`, [id]);
  expect((await runs('show')).stdout).toMatch(
    /is interrupted after 1 min\.\n[\s\S]* 1 min, unfinished\n[\s\S]*No process works on it. Start a worker: /,
  );
  const { scope } = await readRun(database.pool, id);
  await suspendByHand(database.pool, scope, { by: 'ann', reason: undefined });
  expect((await stateNow()).state).toBe('waiting'); // a worker could not continue it either
  await resumeAccount(database.pool, scope);
  await database.pool.query(
    `update ledger.runs set created_at = now() - interval '2 h', attended_at = now() - interval '119 min' where id = $1`,
    [id],
  );
  expect((await stateNow()).durationMs).toBeLessThan(30 * 60_000);
  await noteAttended(database.pool, [id], { ...WORKER, pid: 2 ** 22 + 1 }); // no process has this id
  expect((await stateNow()).state).toBe('interrupted');
  const claim = await claimOn(database, await readRun(database.pool, id));
  expect((await stateNow()).state).toBe('running');
  await dropClaims(database.pool, [claim.id]);
  await database.pool.query(`update ledger.runs set attended_at = now() - interval '8 s' where id = $1`, [id]);
  await noteAttended(database.pool, [id], WORKER);
  expect((await stateNow()).state).toBe('running');
  await pauseRun(database.pool, id, { code: 'AWAITS_CONFIRMATION', message: 'look at it' });
  expect(await stateNow()).toMatchObject({ state: 'awaiting-approval', stateWords: 'awaiting approval' });
  expect((await stateNow()).durationMs).toBeLessThan(30 * 60_000);
  expect((await runs('show', id)).stdout).toMatch(
    /1 {2}awaiting approval\n[\s\S]*1 row awaiting approval:\n {2}1 × AWAITS_APPROVAL, waiting\n.*\n +Fix: See what .*runs resume run-/,
  );
  await endRun(database.pool, id, 'cancelled', { code: 'NOT_APPROVED', message: 'Not approved: nothing was sent.' });
  expect(await stateNow()).toMatchObject({ state: 'not-approved', status: 'cancelled' });
});

test('a row that was sent or claimed may have arrived, and is not confirmed; the others were never sent', async () => {
  const id = await runWith([]);
  const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((sourceId, n) => ({ n, sourceId, label: sourceId }));
  await addRows(database.pool, id, rows);
  const claim = await claimOn(database, await readRun(database.pool, id));
  await database.pool.query(
    `with sent as (insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 0, 'unknown', 1), ($1, 1, 'unsent', 0))
     insert into ledger.chunks (claim_id, run_id, rows) values ($2, $1, '{3}')`,
    [id, claim.id],
  );
  await endRun(database.pool, id, 'cancelled');
  const { json } = await runs('show', id, '--json');
  expect(json).toMatchObject({ counts: { in: 6, unknown: 6 }, unsettled: { sent: 2, neverSent: 4 } });
  const { stdout } = await runs('show', id);
  expect(stdout).toMatch(/ 2 {2}sent, not confirmed\n +4 {2}never sent\n/);
  expect(stdout).toMatch(/4 rows never sent:\n {2}4 × NEVER_SENT, e\.g\. b, c, e\n {6}Fix: /);
  expect(stdout).toMatch(/2 rows sent, not confirmed:\n {2}2 × NOT_CONFIRMED, a, d\n/);
  expect(stdout.match(/runs export .* --verdict unknown/g)).toHaveLength(1);
  expect(stdout).not.toContain('It has not been sent.');
  await database.pool.query('update ledger.runs set calls_missed = true where id = $1', [id]); // a process was killed
  expect((await runs('show', id)).stdout).toMatch(
    / 2 {2}sent, or perhaps sent, not confirmed\n.* 0 {2}calls counted; more were made: a process was killed/s,
  );
  const exported = (await runs('export', id, '--out', '-')).stdout.split('\r\n').slice(1, -1);
  const reasons = exported.map((line) => line.split(',')[3]);
  expect(reasons).toEqual(['NOT_CONFIRMED', 'NEVER_SENT', 'NEVER_SENT', 'NOT_CONFIRMED', 'NEVER_SENT', 'NEVER_SENT']);
});

test('no one knows which claimed rows an interrupted run has sent', async () => {
  const id = await runWith([]);
  await addRows(database.pool, id, [{ n: 1, sourceId: 'a', label: 'a' }]);
  const worker = { ...WORKER, pid: 2 ** 22 + 1 }; // no process has this id
  const claim = await claimOn(database, await readRun(database.pool, id), { worker });
  await database.pool.query(`insert into ledger.chunks (claim_id, run_id, rows) values ($2, $1, '{1}')`, [
    id,
    claim.id,
  ]);
  expect((await runs('show', id)).stdout).toMatch(/ 1 {2}sent, not confirmed\n/);
  await noteAttended(database.pool, [id], worker);
  expect((await runs('show', id)).stdout).toMatch(/is interrupted[\s\S]* 1 {2}sent, or perhaps sent, not confirmed\n/);
  await endRun(database.pool, id, 'cancelled');
});

test('names a sync that is neither in the settings nor in the ledger', async () => {
  await runWith(['1 created -'], 'done', { sync: 'removed' });
  expect((await runs('--sync', 'removed', '--status', 'failed')).stdout).toBe('No run matches.\n');
  const { code, stderr } = await runs('--sync', 'nightly-contact');
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/"nightly-contact" is neither a sync .* did you mean "nightly-contacts"/),
  ]);
});

test('folds runs that found nothing new, and filters by sync, status, time and verdict', async () => {
  const poll = { sync: 'polls', resource: 'polls' };
  for (let n = 0; n < 3; n++) await runWith(['1 unchanged -'], 'done', poll);
  const found = await runWith(['1 created -'], 'done', poll);
  const failed = await runWith(['1 review NO_KEY'], 'failed', poll);
  const quiet = await runWith(['1 unchanged -'], 'done', poll);
  const ids = ({ stdout }: { stdout: string }) => [...stdout.matchAll(/^(run-\S+)/gm)].map(([, id]) => id);
  const listed = await runs('--sync', 'polls');
  expect(ids(listed).slice(0, 3)).toEqual([quiet, failed, found]);
  expect([ids(listed).length, ids(await runs('--sync', 'polls', '--all')).length]).toEqual([4, 6]);
  expect(listed.stdout).toMatch(/ nothing new, nor in 2 runs before it since /);
  expect(ids(await runs('--sync', 'polls', '--status', 'failed'))).toEqual([failed]);
  expect(ids(await runs('--sync', 'polls', '--verdict', 'created'))).toEqual([found]);
  expect((await runs('--sync', 'polls', '--since', '2099-01-01')).stdout).toBe('No run matches.\n');
});

test('finds runs in a state behind runs that are stored with the same status', async () => {
  const ended = async (error?: { code: string; message: string }) => {
    const id = await runWith([], undefined, { sync: 'declines', resource: 'declines' });
    await endRun(database.pool, id, 'cancelled', error);
    return id;
  };
  const declined = await ended({ code: 'NOT_APPROVED', message: 'Not approved by Eve.' });
  await ended();
  await ended();
  const { json } = await runs('--sync', 'declines', '--status', 'not-approved', '--limit', '1', '--json');
  expect(json.runs.map(({ run }: { run: string }) => run)).toEqual([declined]);
});

test('finds a load that waits for another run, which is stored as paused', async () => {
  const id = await runWith([], undefined, { sync: 'waits', resource: 'waits' });
  await pauseRun(database.pool, id, { code: 'WAITS_FOR_RUN', message: 'It waits for run-1.' });
  const { json } = await runs('--sync', 'waits', '--status', 'waiting', '--json');
  expect(json.runs).toMatchObject([{ run: id, state: 'waiting' }]);
  await endRun(database.pool, id, 'cancelled');
});

test('cancels an unfinished run, but not one that has ended', async () => {
  const id = await runWith(['1 created -']);
  expect((await runs('cancel', id, '--json')).json).toMatchObject({ run: id, status: 'cancelled' });
  expect((await runs('show', id)).stdout).toMatch(/Cancelled by .+: nothing more is sent\./);
  const again = await runs('cancel', id);
  expect([again.code, again.stderr]).toEqual([2, `lockstep: Run ${id} was cancelled. There is nothing to cancel.\n`]);
  const resumed = await runs('resume', id);
  expect([resumed.code, resumed.stderr]).toEqual([
    2,
    expect.stringMatching(/See its rows, and what to do about those that need work: lockstep runs show \S+/),
  ]);
});

test('does not resume a failed run while a newer run of its sync is unfinished', async () => {
  const failed = await runWith([], 'failed');
  const newer = await runWith([]);
  const { code, json } = await runs('resume', failed, '--json');
  expect([code, json.error.code]).toEqual([3, 'RUN_IN_THE_WAY']);
  await runs('cancel', newer);
});

test('reports an unknown run', async () => {
  expect((await runs('show', 'run-x', '--json')).json.error.code).toBe('RUN_UNKNOWN');
});

test('shows one row by its id or number; an unknown row is wrong use', async () => {
  const id = await runWith(['7 created - Ann', 'x review NO_KEY Ben'], 'done');
  const { stdout } = await runs('show', id, '--row', 'x');
  expect(stdout).toMatch(
    /^Row 1 of run .*: x, Ben\n[\s\S]*Verdict\n {2}review NO_KEY.*\n.*\n {2}What to do: Add one of them/,
  );
  expect((await runs('show', id, '--row', '1', '--json')).json).toMatchObject({
    sourceId: 'x',
    verdict: { reason: 'NO_KEY' },
  });
  expect((await runs('show', id, '--row', '7', '--json')).json).toMatchObject({ n: 0, label: 'Ann' });
  const none = await runs('show', id, '--row', '99');
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringContaining(
      `has no row "99": records that have not changed have none. List its rows with: lockstep runs export`,
    ),
  ]);
});
