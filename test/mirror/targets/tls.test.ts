/** What a person learns if no TLS connection to a target is made: on real sockets. */
import { createServer as createHttpServer } from 'node:http';
import { createServer, type TlsOptions } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { CERTIFICATE } from '../../support/certificate.ts';
import { freeBudget } from '../../support/free-budget.ts';

const selfSigned = (options: TlsOptions = {}) => createServer({ ...CERTIFICATE, ...options });

test.each([
  ['its certificate is self-signed', selfSigned(), 'CERTIFICATE', /set NODE_EXTRA_CA_CERTS/],
  ['it is a server for http', createHttpServer(), 'UNREACHABLE', /does not speak TLS.*begin with http:/],
  [
    'its TLS is too old',
    selfSigned({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }),
    'UNREACHABLE',
    /the TLS handshake failed.*TLS 1\.2 or later/,
  ],
] as const)('a call to a server is not sent if %s, and says why', async (_, server, reason, detail) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const caller = openCaller({
    name: 'hook',
    baseUrl: `https://127.0.0.1:${address.port}`,
    allowPrivate: true,
    timeoutMs: 5_000,
    take: (signal) => freeBudget().take({ lane: 'batch', signal }),
  });
  onTestFinished(() => caller.close());
  const request = { method: 'POST', path: '', headers: {} } as const;
  expect(await caller.send(request, { signal: new AbortController().signal })).toMatchObject({
    status: 'failed',
    failure: { status: 'later', reason, detail: expect.stringMatching(detail) },
  });
});
