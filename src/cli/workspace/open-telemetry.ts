/** Starts the export of traces if the environment names a receiver. Its packages are optional, and loaded only then. */
import type { Logger } from 'pino';
import { codeOf } from '../../base/errors.ts';
import type { Telemetry } from './telemetry.ts';

const INSTALL =
  'npm install --no-save @opentelemetry/sdk-trace@2 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223';

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
    log.warn(`no traces are exported: packages of OpenTelemetry are missing. Install them beside Lockstep: ${INSTALL}`);
    return undefined;
  }
}
