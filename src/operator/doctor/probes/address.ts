/** Does the address answer, with the protocol in the settings, and is the answer from the service? */
import { answerWords, headerIn } from '../answer-words.ts';
import type { Look } from '../caller.ts';
import { isPage } from '../lists.ts';
import { certain, type Examination, type Finding, type Probe } from '../probe.ts';

const GAP = 'address';
const DOES = 'sends every call to this address, and never follows a redirect, so the key is sent nowhere else';

export const address: Probe = { name: 'the address', gaps: [GAP], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const { look } = await exam.list('contacts');
  if (look === undefined) return [];
  const { outcome } = look;
  if (outcome.status === 'not-sent' || look.httpStatus === undefined) {
    exam.stop('the address cannot be reached');
    const found = 'message' in outcome ? outcome.message : 'no answer came';
    return [certain(GAP, found, 'cannot send any call', { needs: remedyFor(look, exam) })];
  }
  if (outcome.status === 'limited') {
    exam.stop('the service answers every call with a rate limit');
    const needs =
      'wait until the limit is over, find out what else uses this key, and lower the account’s budget.requests';
    return [certain('rate-limit', answerWords(look), 'waits as long as the service asks', { needs })];
  }
  if (isTlsPort(look)) {
    const needs = `change accounts.${exam.account.name}.url to begin with https://`;
    return [certain(GAP, 'the port uses https, but the address begins with http', DOES, { needs })];
  }
  return [isPage(look) ? pageInstead(look, exam) : protocolOf(exam)];
}

function protocolOf({ account }: Examination): Finding {
  const { protocol, hostname, origin } = new URL(account.baseUrl);
  if (protocol === 'https:') return certain(GAP, `${origin} answers, and its certificate is valid`, DOES);
  if (/^(localhost|127\.|\[::1\])/.test(hostname)) return certain(GAP, `${origin} answers, on this machine`, DOES);
  const needs = `set accounts.${account.name}.url to the https:// address, if there is one`;
  return certain(GAP, `${origin} answers, without TLS: the key is sent unencrypted`, DOES, { needs });
}

function remedyFor({ outcome }: Look, { account }: Examination): string {
  if (outcome.status === 'not-sent' && outcome.reason === 'budget-away')
    return 'start the store of the budget (Postgres or Redis), then try again';
  if (outcome.status === 'not-sent' && outcome.reason === 'certificate') {
    return `fix the certificate of ${account.baseUrl}, or trust its certificate authority with NODE_EXTRA_CA_CERTS`;
  }
  const other = account.baseUrl.startsWith('https:') ? 'http://' : 'https://';
  return `check accounts.${account.name}.url (${account.baseUrl}): the host, the port, and whether it should be ${other}`;
}

/** nginx and others report this in a 400. */
function isTlsPort({ httpStatus, body }: Look): boolean {
  return (
    httpStatus === 400 &&
    /plain HTTP request was sent to (an )?HTTPS|requires? TLS|client sent an HTTP request to an HTTPS/i.test(body)
  );
}

function pageInstead(look: Look, { account }: Examination): Finding {
  const setting = `accounts.${account.name}.url`;
  const location = headerIn(look, 'location')?.split(/[?#]/, 1)[0];
  if (location === undefined) {
    const needs = `set ${setting} to the address of the API, not of its web pages; it may have a path, but no query`;
    return certain(GAP, `${answerWords(look)} where JSON was expected, under both prefixes`, DOES, { needs });
  }
  const target = URL.canParse(location, account.baseUrl) ? new URL(location, account.baseUrl) : undefined;
  const own = new URL(account.baseUrl);
  const isUpgrade = target?.protocol === 'https:' && own.protocol === 'http:' && target.hostname === own.hostname;
  const needs = isUpgrade
    ? `set ${setting} to https://${target.host}${own.pathname.replace(/\/$/, '')}`
    : `set ${setting} to an address that does not redirect; a redirect to a login page means that this is not an API`;
  return certain(GAP, `a redirect (HTTP ${look.httpStatus}) to ${location}`, DOES, { needs });
}
