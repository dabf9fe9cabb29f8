/** Opens the targets of the settings on demand: each with its own budget, shared by all processes. */

import { LockstepError } from '../../base/errors.ts';
import type { Budget, BudgetStore } from '../../client/budget/budget.ts';
import { createBudget } from '../../client/budget/key-budget.ts';
import type { Target } from '../../contract/target.ts';
import type { SecretRef } from '../../settings/fields.ts';
import type { TargetSettings } from '../../settings/target.ts';
import { openAsana } from './asana.ts';
import { openCaller } from './caller.ts';
import { openGithub } from './github.ts';
import { openJira } from './jira.ts';
import { openLinear } from './linear.ts';
import { openPostgres } from './postgres.ts';
import { openService, type ServiceNeeds } from './service.ts';
import type { CreationLog } from './service-creation.ts';
import { openTodoist } from './todoist.ts';
import { openWebhook } from './webhook.ts';

export interface TargetsNeeds {
  /** By name, as in the settings. */
  readonly settings: Readonly<Record<string, TargetSettings>>;
  readonly store: BudgetStore;
  readonly readSecret: (ref: SecretRef) => Promise<string>;
  /** For targets that are accounts of the service. */
  readonly accounts: ServiceNeeds['accounts'];
  readonly readTask: ServiceNeeds['readTask'];
  readonly creationsOf: (target: string) => CreationLog;
}

/** A target that is reached by HTTP and has its own budget. */
type HttpTarget = Exclude<TargetSettings, { type: 'postgres' | 'service' }>;

export interface OpenTargets {
  /** The caller that opens a target closes it. Rejects if the target cannot be used, for example because a secret is missing. */
  open(name: string): Promise<Target>;
  /** The most calls in flight, over all processes. */
  concurrencyOf(name: string): number;
  /** Closes the budgets; call it when the targets are closed. */
  close(): Promise<void>;
}

/** How long a call waits for its target's budget; after that, the call and all other calls to that target are postponed. */
const PATIENCE_MS = 10_000;

export function openTargets(given: TargetsNeeds): OpenTargets {
  const { settings, store, readSecret } = given;
  const budgets = new Map<string, Budget>();

  function settingsOf(name: string): TargetSettings {
    const target = settings[name];
    if (target) return target;
    throw new LockstepError('TARGET_UNKNOWN', `The settings have no target "${name}".`, { exitCode: 2 });
  }

  function budgetOf({ name, budget }: HttpTarget): Budget {
    const opened = budgets.get(name);
    if (opened) return opened;
    const { requests, perMs, burst, concurrency } = budget;
    const limits = { ratePerSecond: (requests * 1000) / perMs, burst, concurrency };
    const made = createBudget({ key: `target:${name}`, limits, store });
    budgets.set(name, made);
    return made;
  }

  return {
    async open(name) {
      const target = settingsOf(name);
      if (target.type === 'postgres') return openPostgres(target, { readSecret });
      if (target.type === 'service') return openService(target, { ...given, creations: given.creationsOf(name) });
      const budget = budgetOf(target);
      const { timeoutMs, allowPrivate } = target;
      const baseUrl = target.type === 'webhook' ? target.url.reveal() : target.url;
      const take = (signal: AbortSignal) => budget.take({ lane: 'batch', signal, maxWaitMs: PATIENCE_MS });
      const caller = openCaller({ name, baseUrl, allowPrivate, timeoutMs, take });
      const needs = { caller, readSecret };
      switch (target.type) {
        case 'webhook':
          return openWebhook(target, needs);
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
    },
    concurrencyOf(name) {
      const target = settingsOf(name);
      return 'budget' in target ? target.budget.concurrency : target.concurrency;
    },
    async close() {
      await Promise.all([...budgets.values()].map((budget) => budget.close()));
    },
  };
}
