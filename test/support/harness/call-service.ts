import { expect } from 'vitest';
import { type OperationName, operations } from '../../../src/contract/operations.ts';

/** Calls an operation of the embedded service that has to succeed, and gives its content. `pathId`: the id in its path. */
export async function callService(
  { url, key }: { readonly url: string; readonly key: string },
  operation: OperationName,
  pathId: number,
  body?: unknown,
): Promise<unknown> {
  const { method, path } = operations[operation];
  const response = await fetch(`${url}/api/v1${path.replace(/\{\w+\}/, String(pathId))}`, {
    method,
    headers: { API_KEY: key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { content: unknown }).content; // safe: our own service's envelope
}
