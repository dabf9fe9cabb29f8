/** Where a server can be reached. */
import type { AddressInfo } from 'node:net';

/** `address`: of the listening server. A server on every address is reached at this machine's own. */
export function serverUrl(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
