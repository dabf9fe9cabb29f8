/** Answers that are not the vendor's: of a site that is closed, or of another program at its address, such as a proxy. */
import { expect, test } from 'vitest';
import { startAsana } from '../../support/asana-standin.ts';
import { startGithub } from '../../support/github-standin.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { startJira } from '../../support/jira-standin.ts';
import { startLinear } from '../../support/linear-standin.ts';
import { anOutcome } from '../../support/matchers.ts';
import { startTodoist } from '../../support/todoist-standin.ts';

const PAGE = '<!DOCTYPE html><html><title>Atlassian Cloud Notifications - Page Unavailable</title></html>';

/** https://github.com/trufflesecurity/trufflehog/issues/3674 and https://github.com/prometheus/alertmanager/issues/4609 */
const ANSWERS = [
  { status: 404, body: { errorMessage: 'Site temporarily unavailable', errorCode: 'OTHER' } },
  { status: 404, body: PAGE },
  { status: 404, body: 'default backend - 404' },
  { status: 410, body: '' },
];
const PAGES = [400, 403, 404, 407, 451].map((status) => ({ status, body: PAGE }));

test.each([
  ['GitHub', startGithub, [...ANSWERS, ...PAGES]],
  ['Jira', startJira, [...ANSWERS, ...PAGES]],
  ['Asana', startAsana, [...ANSWERS, ...PAGES]],
  ['Linear', startLinear, [...ANSWERS, ...PAGES]],
  ['Todoist', startTodoist, PAGES],
])(
  '%s: a site that is closed makes no dead letter, and its items are not reported as missing',
  async (_, start, answers) => {
    const harness = await start();
    const target = harness.openTarget(needsOf(harness.vendor), { create: true });
    const itemId = harness.put(false);
    const closed = anOutcome('later', 'UNREADABLE', /HTTP 4\d\d.*target's url/);
    for (const answer of answers) {
      harness.vendor.next(answer);
      expect(await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context())).toMatchObject(closed);
      harness.vendor.next(answer);
      expect(await target.readItem?.(itemId, context())).toMatchObject(closed);
      harness.vendor.next(answer);
      expect(await target.deliver(deliveryOf({ id: '99' }), context())).toMatchObject(closed);
    }
    expect([harness.isCompleted(itemId), harness.count()]).toEqual([false, 1]);
    await target.close();
    await harness.vendor.close();
    expect(harness.vendor.complaints).toEqual([]);
  },
);
