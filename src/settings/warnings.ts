/** Warns about settings that work but may be a mistake: secrets in the file, keys sent without TLS, a short settle time. */
import { isDeepStrictEqual } from 'node:util';
import { isLoopback, isSecretSource } from './fields.ts';
import type { Mistake } from './issues.ts';
import { quote } from './message-parts.ts';
import type { SettingsFile } from './schema.ts';

type Path = Mistake['path'];

export function findWarnings(parsed: SettingsFile): readonly Mistake[] {
  return [
    ...ofLiterals([], parsed),
    ...Object.entries(parsed.accounts).flatMap(([name, account]) => ofAccount(['accounts', name], account)),
    ...Object.entries(parsed.targets).flatMap(([name, target]) => ofTarget(parsed, name, target)),
    ...Object.entries(parsed.alerts).flatMap(([name, channel]) => ofChannel(['alerts', name], channel)),
    ...(['console', 'health'] as const).flatMap((section) => ofListening(parsed, section)),
    ...ofSameAddress(parsed),
    ...ofClearText(['service', 'url'], parsed.service.url, 'API keys'),
    ...ofPassword(['database', 'url'], parsed.database.url, 'DATABASE_URL'),
    ...ofPassword(['redis', 'url'], parsed.redis.url, 'REDIS_URL'),
  ];
}

function ofAccount(path: Path, { url, budget }: SettingsFile['accounts'][string]): Mistake[] {
  const { burst, requests, settleMs, timeoutMs } = budget;
  const isLargeBurst = burst > requests;
  return [
    ...ofClearText([...path, 'url'], url, 'the API key'),
    ...warnIf(
      isLargeBurst,
      [...path, 'budget', 'burst'],
      `more than requests: after a pause, ${burst} calls at once are allowed`,
    ),
    ...warnIf(
      settleMs < timeoutMs,
      [...path, 'budget', 'settle'],
      'shorter than the timeout: a late create may be sent twice',
    ),
  ];
}

function ofTarget(parsed: SettingsFile, name: string, target: SettingsFile['targets'][string]): Mistake[] {
  const path = ['targets', name];
  const polled = Object.values(parsed.syncs).flatMap((sync) => ('poll' in sync.options ? sync.options.poll : []));
  const isUnread = 'createTasks' in target && target.createTasks !== false && !polled.includes(name);
  const remedy = `add options: { poll: [${name}] } to the sync that has it among its targets`;
  return [
    ...warnIf(isUnread, [...path, 'createTasks'], `no sync polls this target, so its items become no tasks: ${remedy}`),
    // A webhook's secret only signs and is not sent. Other targets with an address send their tokens.
    ...('url' in target && typeof target.url === 'string'
      ? ofClearText([...path, 'url'], target.url, 'the token')
      : []),
    ...ofOauthClient(parsed.targets, [...path, 'oauthClient'], clientOf(target)),
  ];
}

function clientOf(target: SettingsFile['targets'][string] | undefined) {
  return target !== undefined && 'oauthClient' in target ? target.oauthClient : undefined;
}

/** Each target keeps its own tokens. */
function ofOauthClient(targets: SettingsFile['targets'], path: Path, client: ReturnType<typeof clientOf>): Mistake[] {
  if (client === undefined) return [];
  const { refreshToken, tokenUrl } = client;
  const before = Object.keys(targets).slice(0, Object.keys(targets).indexOf(String(path[1])));
  const other = before.find((name) => isDeepStrictEqual(clientOf(targets[name])?.refreshToken, refreshToken));
  const isShared = refreshToken !== undefined && other !== undefined;
  const message = `targets.${other} has the same one, and many vendors accept a refresh token only once: authorise the client again for this target`;
  return [
    ...ofClearText([...path, 'tokenUrl'], tokenUrl, 'the secret of the client'),
    ...warnIf(isShared, [...path, 'refreshToken'], message),
  ];
}

function ofChannel(path: Path, channel: SettingsFile['alerts'][string]): Mistake[] {
  const isClear =
    channel.type === 'email' &&
    channel.password !== undefined &&
    channel.security === 'none' &&
    !isLoopback(channel.host);
  return warnIf(isClear, [...path, 'security'], 'none sends the password in the clear; use starttls or tls');
}

function ofSameAddress({ console: web, health }: SettingsFile): Mistake[] {
  const isSame = health.listen && health.listen.port !== 0 && isDeepStrictEqual(health.listen, web.listen);
  const message = 'console.listen has the same port, so a process that serves both has no console: name another port';
  return warnIf(isSame === true, ['health', 'listen'], message);
}

function ofListening(parsed: SettingsFile, section: 'console' | 'health'): Mistake[] {
  const host = parsed[section].listen?.host;
  if (host === undefined || isLoopback(host)) return [];
  const { password, users } = parsed.console;
  const isOpen = section === 'console' && password === undefined && Object.keys(users).length === 0;
  const danger = isOpen
    ? 'and the console has no password, so it does not start: set console.password'
    : 'without TLS: put a proxy with TLS in front of it';
  return [{ path: [section, 'listen'], message: `other machines can reach ${quote(host)} ${danger}` }];
}

/** Secrets that are written in the file. */
function ofLiterals(path: Path, value: unknown): Mistake[] {
  const message = 'the secret is in the settings file; use { env: NAME } or { file: PATH } to keep it out';
  if (isSecretSource(value)) return warnIf(value.from === 'literal', path, message);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => ofLiterals([...path, key], inner));
}

function ofClearText(path: Path, url: string | undefined, what: string): Mistake[] {
  return warnIf(isSentInClear(url), path, `http:// sends ${what} in the clear; use https://`);
}

function ofPassword(path: Path, url: { toString(): string } | undefined, variable: string): Mistake[] {
  const message = `the password is in the settings file; use the environment variable ${variable} to keep it out`;
  return warnIf(url?.toString().includes(':***@') === true, path, message);
}

function warnIf(isSo: boolean, path: Path, message: string): Mistake[] {
  return isSo ? [{ path, message }] : [];
}

function isSentInClear(url: string | undefined): boolean {
  if (url === undefined) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}
