/** `lockstep service`: only the Sales & Productivity service, on the same database. */
import path from 'node:path';
import { Option } from 'commander';
import { wrongUse } from '../../base/errors.ts';
import { type BehaviourOptions, behaviourSchema } from '../../service/testbed/behaviour.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { aborted } from '../signals.ts';
import { DEFAULT_PORT, warnBeyondLoopback } from '../workspace/roles.ts';
import { portNumber } from './arguments.ts';
import { readJsonArgument } from './json-argument.ts';
import { addAdministration } from './service-admin.ts';
import { addSeed } from './service-seed.ts';

interface ServiceOptions {
  readonly port: number;
  readonly listen: string;
  readonly tenant?: string;
  readonly key?: string;
  readonly keyEnv?: string;
  readonly keyFile?: string;
  readonly testbed?: string;
}

export function define(service: Command, perform: Perform): void {
  service
    .description(
      'Serves the Sales & Productivity API (contacts, customers, orders, tasks, subtasks, pipelines) until it is stopped, ' +
        'on the database of the settings, with its documentation at /docs. Its subcommands manage what the API ' +
        'cannot: tenants, keys, pipelines, deleting records, and sample records.',
    )
    .option('--port <port>', 'port to listen on; 0 takes any free one', portNumber, DEFAULT_PORT)
    .option('--listen <host>', 'address to listen on', '127.0.0.1')
    .option('--tenant <name>', 'create this tenant if it does not exist; needs --key-env or --key-file')
    .addOption(
      new Option('--key-env <name>', 'environment variable with the API key of that tenant').conflicts('keyFile'),
    )
    .option('--key-file <file>', 'file with the API key of that tenant')
    .addOption(
      new Option('--key <key>', 'the API key itself (deprecated: the process list shows it)').conflicts([
        'keyEnv',
        'keyFile',
      ]),
    )
    .option(
      '--testbed <json>',
      'how the service answers where its contract is silent, and which faults it simulates: JSON or @FILE',
    )
    .addHelpText(
      'after',
      `
With --json, the first line of stdout says that the service is ready:
{"url": …, "docs": …}.

Examples:
  $ lockstep service --port 4100 --tenant acme --key-env ACME_KEY
  $ lockstep service --testbed '{"rateLimit": {"requestsPerSecond": 10}}'
  $ lockstep service tenants add acme
  $ lockstep service keys add --tenant acme`,
    )
    .action(perform(serve));
  addAdministration(service, perform);
  addSeed(service, perform);
}

async function serve(session: Session, options: ServiceOptions): Promise<void> {
  const { out, log } = session;
  const { port, listen: host, tenant } = options;
  const key = await readKey(session, options);
  if ((tenant === undefined) !== (key === undefined)) {
    throw wrongUse('--tenant and a key (--key-env or --key-file) must be given together');
  }
  warnBeyondLoopback(log, host);
  const behaviour = await readBehaviour(session, options.testbed);
  const signal = session.untilStopped(
    'Finishing the requests in progress, then stopping. Press Ctrl-C again to stop at once.',
  );
  const [{ startService }, { createKey, ensureTenant, requireFitKey }] = await Promise.all([
    import('../../service/server.ts'),
    import('../../service/tenants.ts'),
    import('../bin/small-heap.mjs'),
  ]);
  if (key !== undefined) requireFitKey(key); // before a data directory is created
  const { pool, describe } = await session.openServiceStore();
  if (tenant !== undefined && key !== undefined) {
    const { id } = await ensureTenant(pool, tenant);
    await createKey(pool, id, { key, label: 'given at the start' });
  }
  const service = await startService({ pool, host, port, behaviour, log });
  session.closeLater(() => service.close());
  const docs = `${service.url}/docs`;
  out.say(`The service listens at ${service.url}, on ${describe}. Its documentation: ${docs}`);
  if (tenant === undefined) out.say(`Make a key with: ${session.hint('service keys add --tenant NAME')}`);
  out.say('Ctrl-C stops it.');
  out.result({ url: service.url, docs, openapi: `${service.url}/openapi.json`, tenant: tenant ?? null });
  await aborted(signal);
}

async function readKey(
  { env, cwd, log }: Session,
  { key, keyEnv, keyFile }: ServiceOptions,
): Promise<string | undefined> {
  if (keyEnv !== undefined) return readSecret({ from: 'env', name: keyEnv, where: '--key-env' }, env);
  if (keyFile !== undefined) {
    return readSecret({ from: 'file', path: path.resolve(cwd, keyFile), where: '--key-file' }, env);
  }
  if (key !== undefined) log.warn('--key shows the key in the process list: use --key-env NAME or --key-file FILE');
  return key;
}

async function readBehaviour({ cwd }: Session, text: string | undefined): Promise<BehaviourOptions> {
  if (text === undefined) return {};
  const given = await readJsonArgument(text, { option: '--testbed', cwd });
  const parsed = behaviourSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
  const keys = Object.keys(behaviourSchema.shape).join(', ');
  throw wrongUse(`--testbed: ${problems.join('; ')}. Its keys are ${keys}`);
}
