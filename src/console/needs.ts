/** What the console is given by the workspace. */
import type { FastifyBaseLogger } from 'fastify';
import type { Accounts } from '../engine/account/accounts.ts';
import type { SharedQueue } from '../engine/worker/queue.ts';
import type { HookServerNeeds } from '../mirror/inbound/hook-server.ts';
import type { ExamineOptions, Report } from '../operator/doctor/examine.ts';
import type { SettingsCheck } from '../operator/settings-check.ts';
import type { SecretRef } from '../settings/fields.ts';
import type { Settings } from '../settings/settings.ts';
import type { ActionNeeds } from './actions/actions.ts';

export interface ConsoleNeeds extends ActionNeeds, HookServerNeeds {
  readonly pool: ActionNeeds['pool'];
  readonly settings: () => Settings;
  /** The database, for messages about losing it. */
  readonly database: string;
  readonly readSecret: (ref: SecretRef) => Promise<string>;
  /** Reads the file of the settings again. */
  readonly checkSettings: () => Promise<SettingsCheck>;
  readonly openAccount: Accounts['open'];
  /** Examines the service of an account, and keeps the report. */
  readonly examine: (account: string, options: ExamineOptions) => Promise<Report>;
  /** The queue that all workers share. */
  readonly queue: () => Promise<Pick<SharedQueue, 'depth' | 'jobs' | 'bull'>>;
  /** Where uploaded files are kept. */
  readonly dataDir: string;
  /** The most bytes that an uploaded file may have. Default: 200 MiB. */
  readonly maxUploadBytes?: number;
  readonly log?: FastifyBaseLogger;
}
