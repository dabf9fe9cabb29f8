/** Starts the export of traces if the environment names a receiver. Its packages are optional, and loaded only then. */
import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { codeOf } from '../../base/errors.ts';
import { shellWord } from '../../base/reasons/template.ts';
import type { Telemetry } from './telemetry.ts';

/** For the folder in whose node_modules Lockstep finds its packages: it need not be the working directory. */
function installCommand(): string {
  const [prefix = ''] = createRequire(import.meta.url)
    .resolve('@opentelemetry/api')
    .split(/[/\\]node_modules[/\\]/);
  const packages =
    '@opentelemetry/sdk-trace@2 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223';
  return `npm install --no-save --prefix ${shellWord(prefix)} ${packages}`;
}

/** Undefined if traces are not wanted, or if packages are missing, which is logged. `load`: for tests. */
export async function openTelemetry(
  env: NodeJS.Dict<string>,
  log: Logger,
  load = () => import('./telemetry.ts'),
): Promise<Telemetry | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  try {
    return (await load()).startTelemetry(env, log);
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    log.warn(`no traces are exported: packages of OpenTelemetry are missing. Install them with: ${installCommand()}`);
    return undefined;
  }
}
