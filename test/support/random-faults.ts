/** Faults of a random service (random-service.ts). */
import type { ServerResponse } from 'node:http';

/** `late`: applied a little after the connection broke. */
export const FAULTS = ['reset before', 'reset after', '503 before', '502 after', 'cut after', 'late'] as const;
/** Less than the settle time. */
export const LATE_MS = 40;
export const READ_FAULTS = ['reset before', '503 before'] as const;

export function reset(response: ServerResponse): undefined {
  response.socket?.destroy();
  return undefined;
}

/** The answer breaks off in its middle. */
export function cut(response: ServerResponse): undefined {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"status": "succ', () => response.socket?.destroy());
  return undefined;
}
