/** What a client needs to use an account: its address, and its secrets as they are now. */
import type { AccountAccess } from '../../engine/account/accounts.ts';
import { readSecret } from '../../settings/secrets.ts';
import { accountNamed, type Settings } from '../../settings/settings.ts';
import type { EmbeddedService } from './embedded-service.ts';

/** @throws LockstepError SECRET_MISSING, SECRET_INVALID, or for an unknown name */
export async function accessTo(
  settings: Settings,
  name: string,
  service: EmbeddedService,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AccountAccess> {
  const account = accountNamed(settings, name);
  const key = account.apiKey && (await readSecret(account.apiKey, env));
  const isEmbedded = account.url === undefined;
  const { url: baseUrl, key: apiKey } = isEmbedded ? await service.access(name, key) : { url: account.url, key };
  if (apiKey === undefined) throw new Error(`settings without a key of account ${name} are not valid`);
  const authorization = account.authorization && {
    scheme: account.authorization.scheme,
    token: await readSecret(account.authorization.token, env),
  };
  return { settings: account, baseUrl, apiKey, authorization, embeddedTenant: isEmbedded ? name : undefined };
}
