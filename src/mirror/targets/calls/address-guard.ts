/**
 * Keeps calls to targets away from addresses that only this machine or its networks can reach (SSRF). The people who write a
 * target's URL may not know what runs next to this worker: a database, a cloud's metadata.
 *
 * The check applies to the address of the connection, not to the name. It runs in the lookup of that connection, so a name
 * server that answers differently the next time (DNS rebinding) gains nothing. Hosts that are addresses already are never
 * looked up, so they are checked before.
 * Ranges: IANA's special-purpose registries, https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-.
 */
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { LockstepError } from '../../../base/errors.ts';

type Range = readonly [network: string, prefix: number, what: string];

const IPV4: readonly Range[] = [
  // Azure serves its metadata here, though the address looks like a public one.
  ['168.63.129.16', 32, "a cloud's metadata"],
  ['169.254.169.254', 32, "a cloud's metadata"],
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'a private network'],
  ['100.64.0.0', 10, "a provider's shared network"],
  ['127.0.0.0', 8, 'this machine'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'a private network'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'for documentation'],
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'a private network'],
  ['198.18.0.0', 15, 'for benchmarks'],
  ['198.51.100.0', 24, 'for documentation'],
  ['203.0.113.0', 24, 'for documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

/** Addresses that contain an IPv4 address (mapped, NAT64, 6to4, Teredo) are all refused: write such an address as IPv4. */
const IPV6: readonly Range[] = [
  ['::1', 128, 'this machine'],
  ['::ffff:0:0', 96, 'an IPv4 address inside an IPv6 address'],
  ['64:ff9b::', 96, 'an IPv4 address inside an IPv6 address'],
  ['2002::', 16, 'an IPv4 address inside an IPv6 address'],
  ['2001::', 32, 'an IPv4 address inside an IPv6 address'],
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'for documentation'],
  ['3fff::', 20, 'for documentation'],
  ['fc00::', 7, 'a private network'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'a private network'],
  ['ff00::', 8, 'multicast'],
];

const REFUSED = {
  ipv4: IPV4.map((range) => checked(range, 'ipv4')),
  ipv6: IPV6.map((range) => checked(range, 'ipv6')),
};
/** The whole public range of IPv6; every other address, such as ::a.b.c.d, is refused as not public. */
const PUBLIC_IPV6 = blockList('2000::', 3, 'ipv6');

/** The kind of a forbidden address; undefined for a public one. */
export function addressProblem(ip: string): string | undefined {
  // A zone, as in fe80::1%eth0, names an interface, not an address; isIP accepts it, and a BlockList does not.
  const address = ip.split('%', 1)[0] ?? '';
  const version = isIP(address);
  if (version === 0) return 'not an address';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const range = REFUSED[family].find(({ list }) => list.check(address, family));
  if (range !== undefined) return range.what;
  return version === 6 && !PUBLIC_IPV6.check(address, 'ipv6') ? 'reserved' : undefined;
}

/** The problem of a URL's host if it is an address. URL has already normalised 2130706433, 0x7f.1 and 017700000001. */
export function hostProblem({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : addressProblem(host);
}

/**
 * A lookup that returns only addresses that it has checked, for the `connect` of a connection, which then uses one of them
 * without another lookup. A name that has any other address fails with ADDRESS_REFUSED.
 */
export function guardedLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(error, '');
      const addresses = typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      const problems = addresses.map(({ address }) => addressProblem(address));
      const problem = problems.find((what) => what !== undefined);
      if (problem !== undefined) return callback(addressRefused(`an address that is ${problem}`), '');
      const [first] = addresses;
      if (first === undefined) return callback(addressRefused('no address at all'), '');
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

function addressRefused(what: string): LockstepError {
  return new LockstepError('ADDRESS_REFUSED', `the host name has ${what}`);
}

function checked([network, prefix, what]: Range, family: 'ipv4' | 'ipv6') {
  return { what, list: blockList(network, prefix, family) };
}

function blockList(network: string, prefix: number, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return list;
}
