import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { AppError } from '@parley/service-kit';

export type AddressKind = 'public' | 'private' | 'refused';

// BlockList compares IPv4-mapped IPv6 addresses with its IPv4 rules by itself.
const refused = new BlockList();
refused.addSubnet('0.0.0.0', 8); // unspecified: Linux connects it to itself
refused.addSubnet('169.254.0.0', 16); // link-local, and the metadata service of most clouds
refused.addAddress('100.100.100.200'); // metadata, Alibaba Cloud
refused.addAddress('168.63.129.16'); // the host of an Azure machine
refused.addAddress('192.0.0.192'); // metadata, Oracle Cloud
refused.addSubnet('224.0.0.0', 4); // multicast
refused.addSubnet('240.0.0.0', 4); // reserved, and the limited broadcast
refused.addAddress('::', 'ipv6');
refused.addSubnet('fe80::', 10, 'ipv6'); // link-local
refused.addAddress('fd00:ec2::254', 'ipv6'); // metadata, AWS
refused.addAddress('fd20:ce::254', 'ipv6'); // metadata, Google Cloud
refused.addSubnet('ff00::', 8, 'ipv6'); // multicast

const nonPublic = new BlockList();
nonPublic.addSubnet('127.0.0.0', 8);
nonPublic.addSubnet('10.0.0.0', 8);
nonPublic.addSubnet('172.16.0.0', 12);
nonPublic.addSubnet('192.168.0.0', 16);
nonPublic.addSubnet('100.64.0.0', 10); // shared address space of carriers and of some clusters
nonPublic.addSubnet('192.0.0.0', 24);
nonPublic.addSubnet('198.18.0.0', 15); // benchmarks between networks
nonPublic.addAddress('::1', 'ipv6');
nonPublic.addSubnet('fc00::', 7, 'ipv6');
nonPublic.addSubnet('fec0::', 10, 'ipv6'); // site-local of old

/** What a connection to this address would reach; anything that is no IP address is `refused`. */
export function classifyAddress(address: string): AddressKind {
  // fe80::1%eth0: the zone says nothing about where the address belongs.
  const bare = address.replace(/^\[|\]$/gu, '').replace(/%.*$/u, '');
  if (isIPv4(bare)) return kindOf(bare, 'ipv4');
  if (!isIPv6(bare)) return 'refused';
  const inner = embeddedIpv4(bare);
  const outer = kindOf(bare, 'ipv6');
  if (inner === undefined || outer === 'refused') return outer;
  const innerKind = kindOf(inner, 'ipv4');
  return innerKind === 'public' ? outer : innerKind;
}

function kindOf(address: string, family: 'ipv4' | 'ipv6'): AddressKind {
  if (refused.check(address, family)) return 'refused';
  return nonPublic.check(address, family) ? 'private' : 'public';
}

/** The IPv4 address that a translator or a tunnel would make of it: compatible, mapped, 64:ff9b::/96, 6to4. */
function embeddedIpv4(address: string): string | undefined {
  const groups = expand(address);
  const [a = 0, b = 0, c = 0] = groups;
  const last = ipv4Of(groups[6] ?? 0, groups[7] ?? 0);
  const middleIsZero = groups.slice(2, 5).every((group) => group === 0);
  const sixth = groups[5] ?? 0;
  if (a === 0x2002) return ipv4Of(b, c);
  if (a === 0x64 && b === 0xff9b) return last;
  const isLoopback = groups[6] === 0 && (groups[7] ?? 0) <= 1;
  if (a === 0 && b === 0 && middleIsZero && (sixth === 0xffff || (sixth === 0 && !isLoopback))) return last;
  return undefined;
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight groups of a valid IPv6 address. */
function expand(address: string): number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/u.exec(address);
  const hex = (high: string | undefined, low: string | undefined): string =>
    ((Number(high) << 8) | Number(low)).toString(16);
  const text =
    dotted === null
      ? address
      : `${address.slice(0, dotted.index)}${hex(dotted[1], dotted[2])}:${hex(dotted[3], dotted[4])}`;
  const [head = '', tail] = text.split('::');
  const parse = (part: string): number[] =>
    part
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const left = parse(head);
  if (tail === undefined) return left;
  const right = parse(tail);
  return [...left, ...Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right];
}

export interface AddressPolicy {
  readonly allowPrivateAddresses: boolean;
}

export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  const kind = classifyAddress(address);
  return kind === 'public' || (kind === 'private' && policy.allowPrivateAddresses);
}

/**
 * Link-local, metadata, unspecified, multicast and broadcast addresses are refused in any case, private and loopback
 * ones when the policy says so; also in IPv4-mapped and translated IPv6 forms.
 * @throws AppError forbidden, code `target_refused`.
 */
export function checkAddress(address: string, policy: AddressPolicy): void {
  if (!isAllowedAddress(address, policy)) throw targetRefused();
}

/** Says nothing of the address: whoever asked need not learn what a name resolves to inside. */
export function targetRefused(): AppError {
  return new AppError('forbidden', 'The address of the target is not allowed.', { code: 'target_refused' });
}
