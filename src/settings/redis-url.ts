/**
 * The URL of a Redis that has several nodes: a master that Sentinels watch, as `redis+sentinel://host:26379,host2:26379/master`,
 * or a Cluster, as `redis+cluster://host:6379,host2:6379`; with `rediss+` over TLS. A user and a password of Redis may stand
 * before the hosts.
 */
import { Hidden } from './hidden.ts';

export interface RedisNodes {
  readonly kind: 'sentinel' | 'cluster';
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The name that the Sentinels have for the master; empty for a Cluster. */
  readonly master: string;
}

const SCHEME = /^redis(s?)\+(sentinel|cluster):\/\//;
const REST = /^(?:([^@]*)@)?([^/?#@]*)\/?([^?#@]*)$/;
const HOST = /^(?:\[([\da-fA-F:]+)\]|([\w.-]+))(?::(\d{1,5}))?$/;
const PORTS = { sentinel: 26_379, cluster: 6_379 };
export const EXAMPLES = {
  sentinel: 'redis+sentinel://host:26379,host2:26379/mymaster',
  cluster: 'redis+cluster://host:6379,host2:6379',
};

/** What is wrong with the URL as text, without showing it; undefined if its scheme is another one. */
export function readRedisNodes(text: string): RedisNodes | string | undefined {
  const [scheme, tls, kind] = SCHEME.exec(text) ?? [];
  if (scheme === undefined || (kind !== 'sentinel' && kind !== 'cluster')) return undefined;
  const rest = REST.exec(text.slice(scheme.length));
  const [, user = '', hostList = '', master = ''] = rest ?? [];
  const hosts = hostList.split(',').map((host) => hostOf(host, PORTS[kind]));
  const [username, password] = decoded(user) ?? [];
  const example = `, such as ${EXAMPLES[kind]}`;
  if (rest === null || (user !== '' && password === undefined))
    return `expected user:password@ before the hosts, with special characters percent-encoded (@ is %40)${example}`;
  if (!hosts.every((host) => host !== undefined))
    return `expected hosts with their ports, separated by commas${example}`;
  if (kind === 'cluster' && master !== '') return `expected nothing after the hosts of a Cluster${example}`;
  if (kind === 'sentinel' && !/^[\w.-]+$/.test(master))
    return `expected the name of the master after the hosts of its Sentinels${example}`;
  return { kind, isTls: tls === 's', username: username || undefined, password, hosts, master };
}

/** Shows everything but the password. */
export function hiddenNodes(text: string): Hidden {
  return new Hidden(text, text.replace(/:\/\/([^:@]*):.*@/, '://$1:***@'));
}

function hostOf(text: string, defaultPort: number): RedisNodes['hosts'][number] | undefined {
  const [, ipv6, name, port = defaultPort] = HOST.exec(text) ?? [];
  const host = ipv6 ?? name;
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

/** User and password; undefined if there is none, or it is not percent-encoded. */
function decoded(user: string): readonly [string, string] | undefined {
  const colon = user.indexOf(':');
  if (colon === -1) return undefined;
  try {
    return [decodeURIComponent(user.slice(0, colon)), decodeURIComponent(user.slice(colon + 1))];
  } catch {
    return undefined;
  }
}
