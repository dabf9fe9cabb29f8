/** Opens the targets of the settings on demand: each with its own budget, shared by all processes. */
import { wrongUse } from '../../base/errors.ts';
import type { Budget, BudgetStore } from '../../client/budget/budget.ts';
import { createBudget } from '../../client/budget/key-budget.ts';
import type { ProcessName } from '../../client/budget/slot-lease.ts';
import type { Target } from '../../contract/target.ts';
import type { SecretRef } from '../../settings/fields.ts';
import { isEventTarget, type TargetSettings } from '../../settings/schema-target.ts';
import type { ChangeFilter } from '../../settings/target-events.ts';
import { openAsana } from './asana/asana.ts';
import { openCaller, PATIENCE_MS } from './calls/caller.ts';
import { grantOf } from './calls/grants.ts';
import type { KeptSecrets } from './calls/kept-secrets.ts';
import { callerAtSecret } from './calls/secret-url.ts';
import { issuedTokens } from './calls/token-source.ts';
import { MOST_IN_DIGEST } from './chat/chat.ts';
import { openSlack } from './chat/slack.ts';
import { openTeams } from './chat/teams.ts';
import { filtered } from './filtered.ts';
import { openGithub } from './github/github.ts';
import { openHttp } from './http/http.ts';
import type { DetailLog } from './items/creation-log.ts';
import type { TargetNeeds } from './items/item-calls.ts';
import { openJira } from './jira/jira.ts';
import { openLinear } from './linear/linear.ts';
import { openPostgres } from './postgres/postgres.ts';
import { openService, type ServiceNeeds } from './service/service.ts';
import { openTodoist } from './todoist/todoist.ts';
import { openWebhook } from './webhook/webhook.ts';

export interface TargetsNeeds {
  readonly settings: Readonly<Record<string, TargetSettings>>;
  readonly store: BudgetStore;
  /** One budget in this process, for the other processes that share its key. */
  readonly holder: () => ProcessName;
  readonly readSecret: (ref: SecretRef) => Promise<string>;
  readonly accounts: ServiceNeeds['accounts'];
  readonly readTask: ServiceNeeds['readTask'];
  readonly creationsOf: (target: string) => DetailLog;
  readonly keptOf: (target: string) => KeptSecrets;
}

/** A target that is reached by HTTP and has its own budget. */
type HttpTarget = Exclude<TargetSettings, { type: 'postgres' | 'service' }>;

export interface OpenTargets {
  /** The caller that opens a target closes it. Rejects if the target cannot be used, for example because a secret is missing. */
  open(name: string): Promise<Target>;
  /** Undefined: it receives all changes. */
  filterOf(name: string): ChangeFilter | undefined;
  /** The most calls in flight, over all processes. */
  concurrencyOf(name: string): number;
  /** Closes the budgets; call it when the targets are closed. */
  close(): Promise<void>;
}

const MAX_LIST_BYTES = 16 * 1024 * 1024;

export function openTargets(given: TargetsNeeds): OpenTargets {
  const { settings, store, holder, readSecret } = given;
  const budgets = new Map<string, Budget>();

  function settingsOf(name: string): TargetSettings {
    const target = settings[name];
    if (target) return target;
    throw wrongUse(`The settings have no target "${name}".`, 'TARGET_UNKNOWN');
  }

  function budgetOf({ name, budget }: HttpTarget): Budget {
    const opened = budgets.get(name);
    if (opened) return opened;
    const { requests, perMs, burst, concurrency } = budget;
    const limits = { ratePerSecond: (requests * 1000) / perMs, burst, concurrency };
    const made = createBudget({ key: `target:${name}`, limits, store, process: holder() });
    budgets.set(name, made);
    return made;
  }

  async function openOne(target: TargetSettings): Promise<Target> {
    if (target.type === 'postgres') return openPostgres(target, { readSecret });
    if (target.type === 'service') return openService(target, { ...given, creations: given.creationsOf(target.name) });
    const budget = budgetOf(target);
    const { name, timeoutMs, allowPrivate } = target;
    const take = (signal: AbortSignal) => budget.take({ lane: 'batch', signal, maxWaitMs: PATIENCE_MS });
    const callerAt = (baseUrl: string, maxAnswerBytes?: number) =>
      openCaller({ name, baseUrl, allowPrivate, timeoutMs, take, maxAnswerBytes });
    if (target.type === 'slack' || target.type === 'teams') {
      const needs = { caller: callerAtSecret(target.url, readSecret, callerAt) };
      return target.type === 'slack' ? openSlack(target, needs) : openTeams(target, needs);
    }
    // A page of a vendor's list holds the texts of a hundred items.
    const caller = target.type === 'webhook' ? callerAt(target.url.reveal()) : callerAt(target.url, MAX_LIST_BYTES);
    const kept = given.keptOf(name);
    const base = { caller, readSecret, kept, now: () => new Date() };
    const needs = { ...withTokens(base, grantOf(target, base, callerAt)), log: given.creationsOf(name) };
    switch (target.type) {
      case 'webhook':
        return openWebhook(target, needs);
      case 'http':
        return openHttp(target, needs);
      case 'github':
        return openGithub(target, needs);
      case 'jira':
        return openJira(target, needs);
      case 'asana':
        return openAsana(target, needs);
      case 'linear':
        return openLinear(target, needs);
      case 'todoist':
        return openTodoist(target, needs);
      default:
        return target satisfies never;
    }
  }

  return {
    async open(name) {
      const target = settingsOf(name);
      const filter = filterIn(target);
      return filter === undefined ? openOne(target) : filtered(await openOne(target), filter);
    },
    filterOf(name) {
      const target = settings[name]; // a run may name a target that is no longer in the settings
      return target && filterIn(target);
    },
    concurrencyOf(name) {
      const target = settingsOf(name);
      if ('digest' in target && target.digest) return MOST_IN_DIGEST; // they wait for one another
      return 'budget' in target ? target.budget.concurrency : target.concurrency;
    },
    async close() {
      await Promise.all([...budgets.values()].map((budget) => budget.close()));
    },
  };
}

/** Undefined: the target receives all changes. */
function filterIn(target: TargetSettings): ChangeFilter | undefined {
  return target.type === 'http' || isEventTarget(target) ? target : undefined;
}

/** `needs` with tokens of this grant; its calls end with those of the target. */
function withTokens<Needs extends TargetNeeds & { readonly kept: KeptSecrets }>(
  needs: Needs,
  grant: ReturnType<typeof grantOf>,
): Needs {
  if (grant === undefined) return needs;
  const { caller, kept, now } = needs;
  const close = async () => void (await Promise.all([caller.close(), grant.close()]));
  return { ...needs, caller: { ...caller, close }, tokens: issuedTokens(grant, kept, now) };
}
