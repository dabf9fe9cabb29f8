/**
 * Builds the HTTP request from an operation of the contract, its parameters and an account's credentials.
 */
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { type Operation, PREFIXES, type Prefix } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { WireRequest } from '../http/exchange.ts';
import type { Call } from './classify.ts';
import { type Dialect, isJsonObject } from './dialect.ts';
import { wireJson } from './json.ts';

export interface Account {
  /** Its name in the settings, for messages. */
  readonly account: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Sent as Authorization beside the API key; the contract shows it but does not say whether it is required. */
  readonly authorization?: { readonly scheme: string; readonly token: string };
}

export interface Parameters {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
}

export interface Endpoint {
  readonly origin: string;
  /** Without a trailing slash. */
  readonly basePath: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The same for a request with a body. */
  readonly bodyHeaders: Readonly<Record<string, string>>;
  /** Must not appear in any message. */
  readonly secrets: readonly string[];
}

/** Where a request goes, and how. */
export interface Wire {
  readonly endpoint: Endpoint;
  readonly prefix: Prefix;
  readonly dialect: Dialect;
  /** Paths end with a slash. */
  readonly hasSlash?: boolean;
}

export interface LabelledRequest extends Call {
  readonly request: WireRequest;
}

/** Checks an account's settings. Throws BASE_URL_INVALID, API_KEY_INVALID or AUTHORIZATION_INVALID. */
export function endpointOf(account: Account): Endpoint {
  const { origin, basePath } = parseBaseUrl(account);
  const headers: Record<string, string> = {
    // The contract's spelling, with the underscore.
    API_KEY: headerValue(account.account, 'api-key', account.apiKey),
    accept: 'application/json',
    'accept-encoding': 'identity',
    'cache-control': 'no-cache', // a cached list would lack new records
    'user-agent': `lockstep/${version()}`,
  };
  const secrets = [account.apiKey];
  if (account.authorization !== undefined) {
    const { scheme, token } = account.authorization;
    headers.authorization = headerValue(account.account, 'authorization', `${scheme} ${token}`.trim());
    secrets.push(token);
  }
  return { origin, basePath, ...withBodyHeaders(headers), secrets };
}

export function withBodyHeaders(headers: Endpoint['headers']): Pick<Endpoint, 'headers' | 'bodyHeaders'> {
  return { headers, bodyHeaders: { ...headers, 'content-type': 'application/json' } };
}

/** Throws PARAMETER_MISSING if a path parameter is missing. */
export function buildRequest(
  name: OperationName,
  { path = {}, query = NONE, body }: Parameters,
  { endpoint, prefix, dialect, hasSlash = false }: Wire,
): LabelledRequest {
  const operation: Operation = operations[name];
  const method = name === 'tasks.complete' ? dialect.completeMethod : operation.method;
  const label = `${method} ${endpoint.origin}${endpoint.basePath}${prefix}${operation.path}${hasSlash ? '/' : ''}`;
  const filled = operation.path.replace(PATH_PARAMETER, (_, parameter: string) => {
    const value = path[parameter];
    if (value !== undefined && value !== '') return encodeURIComponent(value);
    throw new LockstepError('PARAMETER_MISSING', `${label}: ${name} needs the path parameter ${parameter}`);
  });
  // Many servers and proxies drop a GET's body, so its content goes into the query.
  const inQuery = method === 'GET' && isJsonObject(body) ? { ...query, ...body } : query;
  const content = method === 'GET' || body === undefined ? undefined : wireJson(body);
  return {
    operation: name,
    label,
    request: {
      method,
      path: `${endpoint.basePath}${prefix}${filled}${hasSlash ? '/' : ''}${queryText(inQuery)}`,
      headers: content === undefined ? endpoint.headers : endpoint.bodyHeaders,
      body: content,
    },
  };
}

const NONE = {};
const PATH_PARAMETER = /\{(\w+)\}/g;

function parseBaseUrl({ account, baseUrl }: Account): { origin: string; basePath: string } {
  const refuse = (why: string) => wrongUse(`Account ${account}: the base URL ${why}`, 'BASE_URL_INVALID');
  if (!URL.canParse(baseUrl)) throw refuse('is not a URL: expected the form https://host or https://host/path');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or password');
  if (url.search !== '' || url.hash !== '') throw refuse('must not hold a query or a fragment');
  const basePath = url.pathname.replace(/\/+$/, '');
  const prefix = PREFIXES.find((candidate) => basePath.endsWith(candidate));
  if (prefix !== undefined)
    throw refuse(`must not end in ${prefix}: that is the account’s prefix setting, auto by default`);
  return { origin: url.origin, basePath };
}

/** What HTTP allows in a header's value and undici sends unchanged: visible ASCII, with blanks between. */
function headerValue(account: string, name: 'api-key' | 'authorization', value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  const what = name === 'api-key' ? 'API key' : 'authorization';
  const why =
    value === '' ? 'is empty' : 'contains characters that a header must not contain, perhaps a line break at its end';
  const code = name === 'api-key' ? 'API_KEY_INVALID' : 'AUTHORIZATION_INVALID';
  throw wrongUse(`Account ${account}: the ${what} ${why}`, code);
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
  }
  return text;
}
