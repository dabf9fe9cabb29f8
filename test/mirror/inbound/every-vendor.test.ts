/** A run with each vendor: what depends on how the run and the vendor fit, and not on the kind of target alone. */
import { expect, onTestFinished, test } from 'vitest';
import { linkKind } from '../../../src/mirror/links/item-links.ts';
import { startAsana } from '../../support/asana-standin.ts';
import { startGithub } from '../../support/github-standin.ts';
import { openHarness } from '../../support/harness/harness.ts';
import { withTasks } from '../../support/harness/tasks.ts';
import { type ItemVendor, TOKEN } from '../../support/item-vendor.ts';
import { startJira } from '../../support/jira-standin.ts';
import { startLinear } from '../../support/linear-standin.ts';
import { startTodoist } from '../../support/todoist-standin.ts';

test.each<[string, () => Promise<ItemVendor>, string]>([
  ['github', startGithub, 'owner: octo, repo: shop'],
  ['jira', startJira, 'email: bot@example.com, project: ABC'],
  ['asana', startAsana, 'project: "555"'],
  ['linear', startLinear, 'team: ENG'],
  ['todoist', startTodoist, 'project: 6Jf8VQXxpwv56VQ7'],
])(
  '%s: a reconcile brings drifted items to the state of their tasks, reading all in few calls, and names them',
  async (type, start, place) => {
    const standin = await start();
    onTestFinished(() => standin.vendor.close());
    const address = `url: "${standin.vendor.url}", token: { env: TOKEN }, allowPrivate: true`;
    const budget = 'budget: { requests: 5000, per: 1s, burst: 500, concurrency: 8 }';
    const harness = withTasks(
      await openHarness({
        hasFront: true,
        syncs: { mirror: 'job: tasks, targets: [items]' },
        targets: { items: `type: ${type}, ${address}, ${place}, ${budget}` },
        env: { TOKEN },
      }),
    );
    onTestFinished(() => harness.close());
    await harness.addTasks(6);
    const ids = Array.from({ length: 6 }, (_, n) => standin.put(n < 2));
    for (const [n, itemId] of ids.entries()) {
      await harness.database.pool.query(
        `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('test', $1, $2, $3, '')`,
        [linkKind('items'), `task:${n + 1}`, itemId],
      );
    }
    await harness.workspace.deliver(['items']);
    await harness.runSync();
    const before = standin.vendor.requests.length;
    const run = await harness.runSync({ reconcile: true });
    expect(run.notes).toContainEqual(expect.stringContaining(`2 of 6 items differed from their tasks: ${ids[0]}`));
    expect(ids.map((itemId) => standin.isCompleted(itemId))).toEqual(ids.map(() => false));
    const reads = standin.vendor.requests.slice(before).filter((request) => !standin.isWrite(request));
    expect(reads.length).toBeLessThan(6);
    const again = await harness.runSync({ reconcile: true });
    expect(again.notes).toContainEqual(expect.stringContaining('0 of 6 items differed'));
    expect(standin.vendor.complaints).toEqual([]);
  },
);
