/**
 * Is the key accepted, does the header arrive, and is Authorization needed? The same read is made with the key, with a
 * wrong key, and without a key. If all three get the same answer, the header does not reach the service.
 *
 * `API_KEY` has an underscore, and nginx drops such headers unless `underscores_in_headers` is on (its documentation,
 * ngx_http_core_module); AWS load balancers drop them if `drop_invalid_header_fields` is on.
 */
import type { Credentials } from '../../../client/call/inspect.ts';
import { isKeyRefused } from '../../../client/call/retry-policy.ts';
import { answerWords, headerIn } from '../answer-words.ts';
import type { Look } from '../caller.ts';
import { certain, type Examination, type Finding, likely, type Probe, unknown } from '../probe.ts';

const GAP = 'authentication';
const KEY = 'the key';
const DOES =
  'sends the key as API_KEY with every call; a 401 or 403 suspends the account until the key is accepted again';
const REMEDY_PROXY =
  'let the proxy pass headers with underscores, in nginx with `underscores_in_headers on;` in the server block';

export const key: Probe = { name: KEY, gaps: [GAP], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const { look: own, prefix } = await exam.list('contacts');
  if (own === undefined || own.outcome.status === 'unknown' || own.outcome.status === 'limited') {
    return [unknown(GAP, 'no answer shows whether the key is accepted', DOES, { about: KEY })];
  }
  const { pageParam, rowsPerPageParam } = exam.account.dialect;
  const query = { [pageParam]: 0, [rowsPerPageParam]: 1 };
  const ask = (credentials: Credentials) => exam.calls.look('contacts.getall', { credentials, query, prefix });
  const others = { wrong: await ask('wrong-key'), none: await ask('no-key') };
  if (own.outcome.status === 'refused' && isKeyRefused(own.outcome)) {
    exam.stop('the key is refused');
    return [refusedKey(exam, own, others)];
  }
  const bare = exam.account.hasAuthorization ? await ask('no-authorization') : undefined;
  return [acceptedKey(exam, others), authorization(exam, bare)];
}

type Others = Readonly<Record<'wrong' | 'none', Look>>;

function refusedKey({ account }: Examination, own: Look, { wrong, none }: Others): Finding {
  const does = 'sends no more calls for this account';
  const said = own.outcome.status === 'refused' ? own.outcome.message : '';
  const refusal = `refused (HTTP ${own.httpStatus}: ${said})`;
  const asksAuthorization =
    headerIn(own, 'www-authenticate') ?? (/authori[sz]ation|bearer/i.test(said) ? said : undefined);
  if (asksAuthorization !== undefined && !account.hasAuthorization) {
    const needs = `set accounts.${account.name}.authorization to the scheme and token that the service’s operator gives`;
    return likely(GAP, `${refusal}: the service seems to need Authorization too`, does, { about: KEY, needs });
  }
  const checkKey = `check the key of account "${account.name}" (${account.keySource}), and that it has not been revoked`;
  if (fingerprint(wrong) !== fingerprint(none)) {
    return certain(GAP, `the header arrives, and the key is ${refusal}`, does, { about: KEY, needs: checkKey });
  }
  const server = headerIn(own, 'server') ?? '';
  const saysMissing = /missing|no api|not (provided|present|found|given|set)|required|absent|without/i.test(said);
  const isNginx = /nginx|openresty|tengine/i.test(server);
  const alike = `${refusal}, and a call with a wrong key or no key gets the same answer`;
  if (isNginx || saysMissing) {
    const by = isNginx
      ? `its proxy (Server: ${server}) drops headers with underscores`
      : 'a proxy drops the header API_KEY';
    const needs = `${REMEDY_PROXY}; otherwise ${checkKey}`;
    return likely(GAP, `${alike}: probably ${by}`, does, { about: KEY, needs });
  }
  const found = `${alike}: the key is wrong, or a proxy drops the header API_KEY`;
  return unknown(GAP, found, does, { about: KEY, needs: `${checkKey}; if it is right, ${REMEDY_PROXY}` });
}

function acceptedKey({ account }: Examination, { wrong, none }: Others): Finding {
  if (wrong.outcome.status !== 'applied' && none.outcome.status !== 'applied') {
    const found = `accepted; answer to a wrong key: ${answerWords(wrong)}; answer without a key: ${answerWords(none)}`;
    return certain(GAP, found, DOES, { about: KEY });
  }
  const who = wrong.outcome.status === 'applied' ? 'a wrong key' : 'a call without a key';
  const needs = `find out whose records these are: ${account.baseUrl} returns them to ${who} too`;
  return certain(GAP, `accepted, but so is ${who}: the service does not check keys`, DOES, { about: KEY, needs });
}

function authorization({ account }: Examination, bare: Look | undefined): Finding {
  const about = 'Authorization';
  if (bare === undefined) return certain(GAP, 'not needed', 'does not send it', { about });
  if (bare.outcome.status === 'applied') {
    const found = `not needed: accounts.${account.name}.authorization can be removed`;
    return certain(GAP, found, 'sends it, because the settings have it', { about });
  }
  return certain(GAP, `needed; answer without it: ${answerWords(bare)}`, 'sends it', { about });
}

/** Equal for answers that differ only in what changes from call to call, such as ids and times. */
function fingerprint({ httpStatus, body }: Look): string {
  return `${httpStatus} ${body.slice(0, 2_000).replace(/[0-9a-f-]{8,}|\d+/gi, '#')}`;
}
