import { afterAll, expect, test } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { operationNames, operations } from '../../src/contract/operations.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

test('the document needs no key and has every path, method and parameter of the operations table', async () => {
  const { json } = await at.send('/openapi.json', { key: null });
  expect([json.openapi, json.servers]).toEqual(['3.1.0', [{ url: '/api/v1' }, { url: '/v1' }]]);
  expect(Object.keys(json.paths)).toHaveLength(26);
  for (const name of operationNames) {
    const { path, method, otherMethod, params, query, body }: Operation = operations[name];
    const item = json.paths[path];
    expect(Object.keys(item)).toEqual(
      expect.arrayContaining([method, otherMethod ?? method].map((one) => one.toLowerCase())),
    );
    const documented = item[method.toLowerCase()];
    const names = documented.parameters.map((parameter: { name: string }) => parameter.name);
    expect(names.sort()).toEqual([...Object.keys(params.shape), ...Object.keys(query.shape)].sort());
    const members = documented.requestBody?.content['application/json'].schema.properties ?? {};
    expect(Object.keys(members)).toEqual(Object.keys(body?.shape ?? {}));
  }
});

test('the key is documented as the header API_KEY, for every operation', async () => {
  const { json } = await at.send('/openapi.json', { key: null });
  expect(json.components.securitySchemes.apiKey).toEqual({ type: 'apiKey', in: 'header', name: 'API_KEY' });
  expect(json.security).toEqual([{ apiKey: [] }]);
});

test('the page to browse it is served without a key and without other origins', async () => {
  const page = await at.send('/docs/', { key: null });
  expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)]);
  expect(page.text).not.toMatch(/(src|href)="https?:/);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/https?:|\*|validator/);
  const script = await at.send('/docs/static/swagger-initializer.js', { key: null });
  expect(script.text).toContain('"validatorUrl":null');
  expect((await at.send('/docs/json', { key: null })).json.openapi).toBe('3.1.0');
});
