/** The check of a Todoist target, and what to enter for its webhook: webhooks belong to apps, which have no API. */
import { z } from 'zod';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { failedCheck, fine } from '../findings.ts';
import type { VendorAdmin } from '../items/vendor-admin.ts';
import { findProject } from './todoist-pages.ts';

export function todoistAdmin({ name, project }: SettingsOf<'todoist'>): VendorAdmin {
  return {
    async check(calls) {
      const list = z.object({ results: z.array(z.unknown()) });
      const listed = await calls.ask({ method: 'GET', path: '/api/v1/tasks?limit=1' }, list);
      if (listed.status !== 'ok') return [failedCheck('token', listed, 'correct the url of this target')];
      const token = fine('token', 'it may read tasks');
      if (project === undefined) return [token];
      const what = `project ${project}`;
      const found = await findProject(calls, project);
      if (found.status !== 'ok')
        return [token, failedCheck(what, found, 'name another project; its id ends its address')];
      return [token, fine(what, `found: ${found.value}`)];
    },
    hooks: {
      byHand: (url) => [
        'At https://app.todoist.com/app/settings/integrations/app-management create an app, or open yours, and activate its webhook.',
        `  Webhook callback URL: ${url} (Todoist takes https only, without a port)`,
        '  Watched events: item:completed, item:uncompleted',
        `  Client secret: put it where the hookSecret of targets.${name} says`,
        'An app reports only the tasks of accounts that have authorised it. So authorise it once, with the account of the token:',
        '  Open https://app.todoist.com/oauth/authorize?client_id=CLIENT_ID&scope=data:read&state=lockstep in a browser. It leads to',
        "  the app's OAuth redirect URL, with a code, which has to be exchanged (the token in the answer is not needed):",
        '  curl https://api.todoist.com/oauth/access_token -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET -d code=CODE',
      ],
    },
  };
}
