/** Warns about settings that work but may be a mistake: secrets in the file, keys sent without TLS, a short settle time. */
import { isLoopback, isSecretSource } from './fields.ts';
import type { Finding } from './issues.ts';
import { quote } from './message-parts.ts';
import type { SettingsFile } from './schema.ts';

export function findWarnings(parsed: SettingsFile): Finding[] {
  const findings: Finding[] = [];
  const warn = (path: Finding['path'], message: string) => findings.push({ path, message });
  const warnOfLiteral = (path: Finding['path'], source: { readonly from: string } | undefined) => {
    if (source?.from === 'literal') {
      warn(path, 'the secret is in the settings file; use { env: NAME } or { file: PATH } to keep it out');
    }
  };
  for (const [name, account] of Object.entries(parsed.accounts)) {
    const path = ['accounts', name];
    warnOfLiteral([...path, 'apiKey'], account.apiKey);
    warnOfLiteral([...path, 'authorization', 'token'], account.authorization?.token);
    if (isSentInClear(account.url)) warn([...path, 'url'], 'http:// sends the API key in the clear; use https://');
    const { burst, requests } = account.budget;
    if (burst > requests)
      warn([...path, 'budget', 'burst'], `more than requests: after a pause, ${burst} calls at once are allowed`);
    if (account.budget.settleMs < account.budget.timeoutMs) {
      warn([...path, 'budget', 'settle'], 'shorter than the timeout: a late create may be sent twice');
    }
  }
  const polled = Object.values(parsed.syncs).flatMap((sync) => ('poll' in sync.options ? sync.options.poll : []));
  for (const [name, target] of Object.entries(parsed.targets)) {
    if ('createTasks' in target && target.createTasks !== false && !polled.includes(name)) {
      const remedy = `add options: { poll: [${name}] } to the sync that has it among its targets`;
      warn(['targets', name, 'createTasks'], `no sync polls this target, so its items become no tasks: ${remedy}`);
    }
    for (const [key, value] of Object.entries(target)) {
      if (isSecretSource(value)) warnOfLiteral(['targets', name, key], value);
    }
    // A webhook's secret only signs and is not sent. Other targets with an address send their tokens.
    if ('url' in target && typeof target.url === 'string' && isSentInClear(target.url)) {
      warn(['targets', name, 'url'], 'http:// sends the token in the clear; use https://');
    }
  }
  for (const [name, channel] of Object.entries(parsed.alerts)) {
    for (const [key, value] of Object.entries(channel)) {
      if (isSecretSource(value)) warnOfLiteral(['alerts', name, key], value);
    }
    if (channel.type !== 'email' || channel.password === undefined) continue;
    if (channel.security === 'none' && !isLoopback(channel.host))
      warn(['alerts', name, 'security'], 'none sends the password in the clear; use starttls or tls');
  }
  warnOfLiteral(['redis', 'sentinelPassword'], parsed.redis.sentinelPassword);
  const { password, users, tokens } = parsed.console;
  warnOfLiteral(['console', 'password'], password);
  for (const [name, user] of Object.entries(users))
    warnOfLiteral(['console', 'users', name, 'password'], user.password);
  for (const [name, one] of Object.entries(tokens)) warnOfLiteral(['console', 'tokens', name, 'token'], one.token);
  for (const section of ['console', 'health'] as const) {
    const host = parsed[section].listen?.host;
    if (host === undefined || isLoopback(host)) continue;
    const isOpen = section === 'console' && password === undefined && Object.keys(users).length === 0;
    const danger = isOpen
      ? 'and the console has no password, so it does not start: set console.password'
      : 'without TLS: put a proxy with TLS in front of it';
    warn([section, 'listen'], `other machines can reach ${quote(host)} ${danger}`);
  }
  if (isSentInClear(parsed.service.url)) warn(['service', 'url'], 'http:// sends API keys in the clear; use https://');
  for (const [section, variable] of [
    ['database', 'DATABASE_URL'],
    ['redis', 'REDIS_URL'],
  ] as const) {
    if (parsed[section].url?.toString().includes(':***@')) {
      warn(
        [section, 'url'],
        `the password is in the settings file; use the environment variable ${variable} to keep it out`,
      );
    }
  }
  return findings;
}

function isSentInClear(url: string | undefined): boolean {
  if (url === undefined) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}
