/** Runs of a sync with each vendor: what does not depend on the kind of target alone, but on how the run and the vendor fit. */
import { afterEach, describe, expect, test } from 'vitest';
import { linkKind } from '../../../src/mirror/links/item-links.ts';
import { startAsana } from '../../support/asana-standin.ts';
import { startGithub } from '../../support/github-standin.ts';
import { openHarness } from '../../support/harness/harness.ts';
import { type TasksHarness, withTasks } from '../../support/harness/tasks.ts';
import type { Reply, SeenRequest } from '../../support/http-server.ts';
import { type ItemVendor, TOKEN } from '../../support/item-vendor.ts';
import { startJira } from '../../support/jira-standin.ts';
import { startLinear } from '../../support/linear-standin.ts';
import { startTodoist } from '../../support/todoist-standin.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

type Place = readonly [what: string, reason: string, detail: RegExp, lose: (standin: ItemVendor) => void];

const SIGNING = 'a signing secret of many bytes';

/** Every call of a kind gets this answer. */
function always(reply: Reply, isMeant: (request: SeenRequest) => boolean): Place[3] {
  return ({ vendor }) => {
    for (let count = 0; count < 10; count++) vendor.next(reply, isMeant);
  };
}

const isList = ({ method, path }: SeenRequest) => method === 'GET' && /\/(issues|tasks)$/.test(path);
const isSearch = ({ path }: SeenRequest) => path.endsWith('/search/jql');
const isCreation = ({ method, path }: SeenRequest) => method === 'POST' && /\/issues?$/.test(path);
const missing = (body: object) => ({ status: 404, body });

/** The settings of a target, and how the vendor answers when the place for new items is gone. */
const VENDORS: readonly [string, () => Promise<ItemVendor>, string, readonly Place[]][] = [
  [
    'github',
    startGithub,
    'owner: octo, repo: shop',
    [
      ['vanished', 'PLACE_MISSING', /no repository octo\/shop/, always(missing({ message: 'Not Found' }), isList)],
      [
        'is archived',
        'READ_ONLY',
        /archived.*then replay/,
        always({ status: 403, body: { message: 'Repository was archived so is read-only.' } }, isCreation),
      ],
    ],
  ],
  [
    'jira',
    startJira,
    'email: bot@example.com, project: ABC',
    [
      [
        'vanished, is archived or is hidden',
        'PLACE_MISSING',
        /no project ABC/,
        always(
          {
            status: 400,
            body: { errorMessages: ["The value 'ABC' does not exist for the field 'project'."], errors: {} },
          },
          isSearch,
        ),
      ],
      [
        'vanished after the search',
        'PLACE_MISSING',
        /no project ABC/,
        always(
          { status: 400, body: { errorMessages: [], errors: { project: 'valid project is required' } } },
          isCreation,
        ),
      ],
    ],
  ],
  [
    'asana',
    startAsana,
    'project: "555"',
    [
      [
        'vanished',
        'PLACE_MISSING',
        /no project 555/,
        always(missing({ errors: [{ message: 'project: Unknown object: 555' }] }), isList),
      ],
    ],
  ],
  [
    'linear',
    startLinear,
    'team: ENG',
    [['is retired', 'PLACE_MISSING', /team ENG is retired/, (standin) => Object.assign(standin, { isRetired: true })]],
  ],
  [
    'todoist',
    startTodoist,
    'project: 6Jf8VQXxpwv56VQ7',
    [
      [
        'vanished',
        'PLACE_MISSING',
        /no project 6Jf8VQXxpwv56VQ7/,
        always(missing({ error: 'Project not found', error_code: 478, http_code: 404 }), isList),
      ],
      [
        'is archived, though Todoist would take the task',
        'PLACE_MISSING',
        /6Jf8VQXxpwv56VQ7 is archived: unarchive it/,
        (standin) => Object.assign(standin, { isArchived: true }),
      ],
    ],
  ],
];

let harness: TasksHarness;
let closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

describe.each(VENDORS)('%s', (type, start, settings, places) => {
  /** A sync with this target, which creates items if asked, and a webhook. */
  async function open(options: string, create: boolean) {
    const standin = await start();
    const receiver = await startWebhookReceiver(SIGNING);
    const more = 'allowPrivate: true, budget: { requests: 5000, per: 1s, burst: 500, concurrency: 8 }';
    const items = `type: ${type}, url: "${standin.vendor.url}", token: { env: TOKEN }, ${settings}, create: ${create}`;
    harness = withTasks(
      await openHarness({
        hasFront: true,
        syncs: { mirror: `job: tasks, targets: [items, hook], options: ${options}` },
        targets: {
          items: `${items}, ${more}`,
          hook: `type: webhook, url: "${receiver.hook}", secret: { env: SIGNING }, ${more}`,
        },
        env: { TOKEN, SIGNING },
      }),
    );
    closing.push(
      () => receiver.close(),
      () => standin.vendor.close(),
      () => harness.close(),
    );
    const work = () => harness.workspace.deliver(['items', 'hook']);
    return { standin, receiver, work };
  }

  test('a reconcile brings drifted items to the state of their tasks, reading all in few calls, and names them', async () => {
    const { standin, work } = await open('{}', false);
    await harness.addTasks(6);
    const ids = Array.from({ length: 6 }, (_, n) => standin.put(n < 2));
    for (const [n, itemId] of ids.entries()) {
      await harness.database.pool.query(
        `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('test', $1, $2, $3, '')`,
        [linkKind('items'), `task:${n + 1}`, itemId],
      );
    }
    await work();
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
  });

  test.each(places)(
    'whose place for new items %s: its dead letters say %s, and the other target gets all',
    async (_, reason, detail, lose) => {
      const { standin, receiver, work } = await open('{ backfill: true }', true);
      lose(standin);
      await harness.addTasks(2);
      await work();
      await harness.runSync();
      const { rows } = await harness.database.pool.query(
        'select target, verdict, reason, detail from ledger.deliveries',
      );
      expect(rows.filter(({ target }) => target === 'items')).toEqual(
        [1, 2].map(() => ({ target: 'items', verdict: 'dead', reason, detail: expect.stringMatching(detail) })),
      );
      expect([standin.count(), receiver.events.length]).toEqual([0, 2]);
      const { rows: states } = await harness.database.pool.query(
        'select * from ledger.target_states where disabled_at is not null',
      );
      expect(states).toEqual([]);
    },
  );
});
