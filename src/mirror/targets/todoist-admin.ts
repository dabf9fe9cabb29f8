/** The check of a Todoist target, and what to enter for its webhook: webhooks belong to apps, which have no API. */
import { z } from 'zod';
import type { SettingsOf } from '../../settings/target.ts';
import { failed, fine } from './findings.ts';
import { findProject } from './todoist-pages.ts';
import type { VendorAdmin } from './vendor-admin.ts';

export function todoistAdmin({ name, project }: SettingsOf<'todoist'>): VendorAdmin {
  return {
    async check(calls) {
      const list = z.object({ results: z.array(z.unknown()) });
      const listed = await calls.ask({ method: 'GET', path: '/api/v1/tasks?limit=1' }, list);
      if (listed.status !== 'ok') return [failed('token', listed, 'correct the url of this target')];
      const token = fine('token', 'it may read tasks');
      if (project === undefined) return [token];
      const what = `project ${project}`;
      const found = await findProject(calls, project);
      if (found.status !== 'ok') return [token, failed(what, found, 'name another project; its id ends its address')];
      return [token, fine(what, `found: ${found.value}`)];
    },
    hooks: {
      byHand: (url) => [
        'At developer.todoist.com, in the App Management Console, create an app, or open yours.',
        `  Webhook callback URL: ${url} (Todoist takes https only, without a port)`,
        '  Watched events: item:completed, item:uncompleted',
        `  Client secret: put it where the hookSecret of targets.${name} says`,
        'The account whose tasks are linked has to authorise the app: an app reports only the tasks of such accounts.',
      ],
    },
  };
}
