/** Says that an address of the service is reached from other machines. */
import type { Logger } from 'pino';
import { isLoopback } from '../../settings/fields.ts';

export function warnBeyondLoopback(log: Logger, host: string): void {
  if (isLoopback(host)) return;
  log.warn(
    `--listen ${host}: other machines reach the service, and API keys and records travel without TLS. Put a proxy with TLS in front of it, or listen on 127.0.0.1`,
  );
}
