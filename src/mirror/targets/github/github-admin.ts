/**
 * The check and the webhooks of a GitHub target. docs.github.com/en/rest/repos/repos, …/repos/webhooks and
 * …/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps: answers to classic tokens name their scopes.
 */
import { z } from 'zod';
import type { Finding, OutsideHook } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { AnswerHeaders } from '../calls/call-answers.ts';
import { failedCheck, fine, problem, unknownCheck } from '../findings.ts';
import { type VendorAdmin, withoutPlace } from '../items/vendor-admin.ts';
import { isSameName } from '../items/wanted-state.ts';

const repository = z.object({
  full_name: z.string().optional(),
  archived: z.boolean().optional(),
  has_issues: z.boolean().optional(),
  private: z.boolean().optional(),
  permissions: z.record(z.string(), z.boolean()).optional(),
});
type Repository = z.output<typeof repository>;

const hook = z
  .object({
    id: z.int(),
    active: z.boolean(),
    events: z.array(z.string()),
    config: z.object({ url: z.string().optional(), content_type: z.string().optional() }),
    last_response: z.object({ code: z.int().nullish() }).optional(),
  })
  .transform(({ id, active, events, config, last_response }): OutsideHook => {
    const { url = '', content_type } = config;
    return { id: String(id), url, problem: whyNot(active, events, content_type, last_response?.code ?? undefined) };
  });

const EVENT = 'issues';

export function githubAdmin(settings: SettingsOf<'github'>): VendorAdmin {
  const { owner, repo, labels, app } = settings;
  const name = `${owner}/${repo}`;
  const what = repo === undefined ? 'token' : `repository ${name}`;
  const hooks = `/repos/${name}/hooks`;
  return {
    async check(calls) {
      if (repo === undefined) {
        const asked = await calls.askWhole({ method: 'GET', path: '/rate_limit' }, z.unknown());
        if (asked.status !== 'ok') return [failedCheck(what, asked, 'check the url of this target')];
        return scopeFindings(asked.value.headers, undefined);
      }
      const asked = await calls.askWhole({ method: 'GET', path: `/repos/${name}` }, repository);
      if (asked.status !== 'ok') return [failedCheck(what, asked, remedyOfMissing(app !== undefined))];
      const { value, headers } = asked.value;
      const listed = await calls.ask({ method: 'GET', path: `/repos/${name}/issues?per_page=1` }, z.array(z.unknown()));
      const issues =
        listed.status === 'ok'
          ? fine('issues', 'the token may read them')
          : failedCheck('issues', listed, 'give the token the permission Issues: read and write');
      return [
        repositoryFinding(name, value),
        issues,
        ...scopeFindings(headers, value),
        ...labelFindings(labels, value),
      ];
    },
    hooks: {
      missing: `webhooks need the permission Webhooks: read and write (classic tokens: the scope admin:repo_hook), and an administrator of ${name}`,
      async list(calls) {
        if (repo === undefined) return withoutPlace(settings.name, 'repo', 'a repository of GitHub');
        return calls.ask({ method: 'GET', path: `${hooks}?per_page=100` }, z.array(hook));
      },
      put(calls, url, existing, secret) {
        const config = { url, content_type: 'json', secret };
        const body = { active: true, events: [EVENT], config };
        return existing === undefined
          ? calls.ask({ method: 'POST', path: hooks, body: { name: 'web', ...body } }, hook)
          : calls.ask({ method: 'PATCH', path: `${hooks}/${existing.id}`, body }, hook);
      },
      remove: (calls, { id }) => calls.ask({ method: 'DELETE', path: `${hooks}/${id}` }, z.unknown()),
    },
  };
}

function whyNot(isActive: boolean, events: readonly string[], type?: string, code?: number): string | undefined {
  if (!isActive) return 'it is disabled';
  if (!events.includes(EVENT) && !events.includes('*')) return 'it does not report issues';
  if (type !== 'json') return 'it does not send JSON';
  if (code === 401) return 'its last call was refused: its secret is not the hookSecret of this target';
  return code !== undefined && code >= 300 ? `its last call was answered by HTTP ${code}` : undefined;
}

function remedyOfMissing(isApp: boolean): string {
  return isApp
    ? 'correct owner and repo, or install the app for this repository'
    : 'correct owner and repo, or give the token access to this repository';
}

function repositoryFinding(name: string, { full_name = name, archived, has_issues, permissions }: Repository): Finding {
  const what = `repository ${name}`;
  if (!isSameName(full_name, name)) {
    const why = `it was renamed to ${full_name}: no issue can be created by its former name`;
    return problem(what, why, 'set owner and repo to the new name');
  }
  if (archived) return problem(what, 'it is archived, so its issues cannot be changed', 'take it out of the archive');
  if (has_issues === false) return problem(what, 'its issues are disabled', 'enable issues in its settings');
  const { push = false, triage = false, maintain = false, admin = false } = permissions ?? {};
  if (permissions === undefined) return fine(what, 'found');
  if (push || triage || maintain || admin) return fine(what, 'found, and its user may close issues');
  return problem(what, 'its user may only read', 'give the user of the token the role Triage or Write');
}

/** Only classic tokens have scopes. Whether another token may write shows when it writes. */
function scopeFindings(headers: AnswerHeaders, of: Repository | undefined): readonly Finding[] {
  const given = headers['x-oauth-scopes'];
  if (given === undefined) {
    return [
      unknownCheck('permissions', 'GitHub does not say whether this token may write issues: a delivery shows it'),
    ];
  }
  const scopes = given.split(',').map((scope) => scope.trim());
  const word = scopes.length === 1 ? 'scope' : 'scopes';
  const wanted = of?.private === false ? ['repo', 'public_repo'] : ['repo'];
  if (wanted.some((scope) => scopes.includes(scope)))
    return [fine('permissions', `the token has the ${word} ${given}`)];
  const has = given === '' ? 'no scope' : `only the ${word} ${given}`;
  return [problem('permissions', `the token has ${has}`, `make a token with the scope ${wanted.at(-1)}`)];
}

/** GitHub leaves out labels without an error. */
function labelFindings(labels: readonly string[], { permissions }: Repository): readonly Finding[] {
  if (labels.length === 0 || permissions === undefined || permissions.push) return [];
  const detail = 'GitHub leaves out the labels of issues that a user without the role Write creates';
  return [problem('labels', detail, 'give the user of the token the role Write, or remove labels')];
}
