/** Credentials with which a vendor issues tokens that expire: an installed app of GitHub, and clients of OAuth. */
import { z } from 'zod';
import { choice, exactlyOneOf, nonEmpty, scheme, secret } from './fields.ts';
import { vendorUrl } from './target-keys.ts';

const shortText = nonEmpty.max(200);

export const githubApp = z
  .strictObject({
    id: z.union([shortText, z.int().positive().transform(String)]).describe('Client id or app id of the app.'),
    privateKey: secret.describe('Private key of the app, in PEM format.'),
    installation: z
      .int()
      .positive()
      .optional()
      .describe('Id of the installation. Default: the one for the repository of owner and repo.'),
  })
  .optional()
  .describe('GitHub App to act as, instead of a token; GitHub issues a token for an hour, which is replaced in time.');

const client = {
  id: shortText.describe('Id of the client.'),
  secret: secret.describe('Secret of the client.'),
  refreshToken: secret
    .optional()
    .describe('Refresh token of the user to act as. Default: none, the client acts as itself.'),
};

/** `tokenUrl`: the address at which the vendor issues tokens. */
export function oauthClient(tokenUrl: string) {
  return z
    .strictObject({
      ...client,
      tokenUrl: vendorUrl.prefault(tokenUrl).describe(`Address at which tokens are issued. Default: ${tokenUrl}.`),
    })
    .optional()
    .describe('Client of OAuth 2.0 to act as, instead of a token; its tokens are replaced before they expire.');
}

/** Of any system. */
export const anyOauthClient = z
  .strictObject({
    ...client,
    tokenUrl: vendorUrl.describe('Address at which tokens are issued. No default.'),
    authentication: choice(['body', 'basic'], 'body').describe(
      'Where the id and the secret of the client are sent: in the body of the call, or by basic in the header Authorization. Default: body.',
    ),
    scheme: scheme
      .prefault('Bearer')
      .describe('The word before the token in the header Authorization. Default: Bearer.'),
    scope: nonEmpty.max(2_000).optional().describe('Scopes to ask for, with spaces between. Default: none.'),
  })
  .optional()
  .describe(
    'Client of OAuth 2.0 whose tokens are sent in the header Authorization; they are replaced before they expire. Default: none.',
  );

/** For `.check`: a target has a token, or the credentials to get one. `words`: what a token needs besides. */
export function tokenOr(key: 'app' | 'oauthClient', words = '') {
  return exactlyOneOf(['token', key], `expected exactly one of token${words}, ${key}`);
}
