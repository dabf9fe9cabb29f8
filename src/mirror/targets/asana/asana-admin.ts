/** The check and the webhooks of an Asana target. developers.asana.com/reference/users, …/projects and …/webhooks. */
import { z } from 'zod';
import type { OutsideHook } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { type KeptSecrets, sealed } from '../calls/kept-secrets.ts';
import { secretUnread } from '../calls/secret-unread.ts';
import { failedCheck, fine, problem } from '../findings.ts';
import { type NamedValues, namedFindings } from '../items/custom-fields.ts';
import type { Calls, TargetNeeds } from '../items/item-calls.ts';
import type { Asked } from '../items/item-target.ts';
import { type VendorAdmin, withoutPlace } from '../items/vendor-admin.ts';
import { workspaceOf } from './asana-fields.ts';
import { HANDSHAKE, readKeptHook } from './asana-hook.ts';

/** How long the handshake of a new hook is waited for: longer than a call may take. */
const HANDSHAKE_MS = 6 * 60_000;

const hook = z
  .object({
    gid: z.string(),
    target: z.string(),
    active: z.boolean().nullish(),
    last_failure_at: z.string().nullish(),
    last_success_at: z.string().nullish(),
    last_failure_content: z.string().nullish(),
  })
  .transform(({ gid, target, active, ...last }): OutsideHook => {
    const hasFailed = Date.parse(last.last_failure_at ?? '') > Date.parse(last.last_success_at ?? '1970-01-01');
    const why = hasFailed ? `its last call failed: ${(last.last_failure_content ?? '').slice(0, 100)}` : undefined;
    return { id: gid, url: target, problem: active === false ? (why ?? 'it is disabled') : why };
  });
const SHOWN = 'target,active,last_failure_at,last_success_at,last_failure_content';
const created = z.object({ data: z.object({ gid: z.string() }), 'X-Hook-Secret': z.string() });

export function asanaAdmin(settings: SettingsOf<'asana'>, needs: TargetNeeds, named: NamedValues): VendorAdmin {
  const { name, project, hookSecret, fields } = settings;
  const { kept, readSecret, now } = needs;
  const noProject = withoutPlace(name, 'project', 'a project of Asana');

  async function list(calls: Calls): Promise<Asked<readonly OutsideHook[]>> {
    if (project === undefined) return noProject;
    const workspace = await workspaceOf(calls, project);
    if (workspace.status !== 'ok') return workspace;
    const query = new URLSearchParams({
      workspace: workspace.value,
      resource: project,
      limit: '100',
      opt_fields: SHOWN,
    });
    const answer = z.object({ data: z.array(hook) }).transform(({ data }) => data);
    const asked = await calls.ask({ method: 'GET', path: `/webhooks?${query}` }, answer);
    if (asked.status !== 'ok') return asked;
    const known = await knownHook();
    const hooks = asked.value.map((one) => (one.id === known ? one : { ...one, problem: UNKNOWN_SECRET }));
    return { status: 'ok', value: hooks };
  }

  /** The id of the hook whose secret is known here. */
  async function knownHook(): Promise<string | undefined> {
    const secret = hookSecret && (await readSecret(hookSecret).catch(secretUnread));
    return kept && typeof secret === 'string' ? (await readKeptHook(kept, secret))?.id : undefined;
  }

  async function remove(calls: Calls, { id }: OutsideHook): Promise<Asked<unknown>> {
    const removed = await calls.ask({ method: 'DELETE', path: `/webhooks/${id}` }, z.unknown());
    if (removed.status === 'ok' && id === (await knownHook())) await kept?.forget('hook');
    return removed;
  }

  /** The process that takes calls answers the handshake while this call is under way, and the answer has the secret again. */
  async function establish(calls: Calls, keeping: KeptSecrets, secret: string, url: string): Promise<Asked<unknown>> {
    const filters = [{ resource_type: 'task', action: 'changed', fields: ['completed'] }];
    const body = { data: { resource: project, target: url, filters } };
    const expiresAt = new Date(now().getTime() + HANDSHAKE_MS);
    await keeping.write('handshake', { sealed: Buffer.alloc(0), expiresAt });
    try {
      const asked = await calls.ask({ method: 'POST', path: '/webhooks', body }, created);
      if (asked.status !== 'ok') return notEstablished(asked);
      const { data, [HOOK_SECRET]: given } = asked.value;
      const box = sealed(JSON.stringify({ id: data.gid, secret: given }), secret, 'hook');
      await keeping.write('hook', { sealed: box, expiresAt: undefined });
      return { status: 'ok', value: undefined };
    } finally {
      await keeping.forget('handshake');
    }
  }

  return {
    async check(calls) {
      const path = '/users/me?opt_fields=name';
      const me = await calls.ask({ method: 'GET', path }, z.object({ data: z.object({ name: z.string().nullish() }) }));
      if (me.status !== 'ok') return [failedCheck('token', me, 'correct the url of this target')];
      const token = fine('token', `it belongs to ${me.value.data.name ?? 'an account without a name'}`);
      if (project === undefined) return [token];
      const what = `project ${project}`;
      const found = await calls.ask(
        { method: 'GET', path: `/projects/${project}?opt_fields=name,archived` },
        z.object({ data: z.object({ name: z.string().nullish(), archived: z.boolean().nullish() }) }),
      );
      if (found.status !== 'ok')
        return [token, failedCheck(what, found, 'correct the project, or make the user of the token a member of it')];
      const { archived, name: called } = found.value.data;
      if (archived === true) return [token, problem(what, 'it is archived', 'unarchive it, or name another project')];
      return [
        token,
        fine(what, `found: ${called ?? 'without a name'}`),
        ...(await namedFindings(named, fields, calls)),
      ];
    },
    hooks: {
      missing: 'webhooks need a token that may read the project (OAuth: the scopes webhooks:read, :write and :delete)',
      list,
      remove,
      async put(calls, url, existing, secret) {
        if (project === undefined || kept === undefined) return noProject;
        if (existing !== undefined && existing.problem === undefined) return { status: 'ok', value: undefined };
        // Asana shows a secret once: a hook whose secret is not known is replaced.
        if (existing !== undefined) {
          const removed = await remove(calls, existing);
          if (removed.status !== 'ok' && removed.status !== 'missing') return removed;
        }
        return establish(calls, kept, secret, url);
      },
    },
  };
}

const HOOK_SECRET = 'X-Hook-Secret';
const UNKNOWN_SECRET = 'its secret is not stored here under the present hookSecret: renew it';

function notEstablished<Failure extends Exclude<Asked<unknown>, { status: 'ok' }>>(asked: Failure): Failure {
  if (!('reason' in asked) || asked.reason !== 'REJECTED') return asked;
  const why = `Asana calls the address at once, with the header ${HANDSHAKE}: it has to lead to a running lockstep start`;
  return { ...asked, detail: `${asked.detail}; ${why}` };
}
