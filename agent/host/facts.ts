import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { HostFacts, PemFacts } from '../config/contract.ts';
import { canonical } from '../config/preflight/server.ts';
import { fieldsOf } from '../../kube/api/json.ts';

/** Parsers for files of the kernel and the kubelet and for PEM files. Pure; undefined where a text does not have the expected form. */

/** `0-3,8`: the kernel's list of CPUs. */
export function cpuList(text: string): number[] | undefined {
  const cpus: number[] = [];
  for (const part of text.trim().split(',')) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!range) return undefined;
    const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])];
    if (last - first > 65_536) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu);
  }
  return cpus;
}

/** `MemTotal:  24576000 kB`, in bytes. */
export function memoryTotal(meminfo: string): bigint | undefined {
  const kib = /^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? undefined : BigInt(kib) * 1024n;
}

/** The kubelet's cpu_manager_state. */
export function cpuManagerState(text: string): HostFacts['cpuManagerState'] {
  const state = parsed(text);
  const policyName = state?.['policyName'];
  if (typeof policyName !== 'string') return undefined;
  const shared = state?.['defaultCpuSet'];
  const sharedCpus = typeof shared === 'string' && shared !== '' ? cpuList(shared) : undefined;
  return { policyName, ...(sharedCpus === undefined ? {} : { sharedCpus }) };
}

/** The kubelet's memory_manager_state. */
export function memoryManagerState(text: string): HostFacts['memoryManagerState'] {
  const state = parsed(text);
  const policyName = state?.['policyName'];
  if (typeof policyName !== 'string') return undefined;
  const reserved: Record<string, bigint> = {};
  for (const [node, value] of Object.entries(fieldsOf(state?.['machineState']))) {
    const bytes = fieldsOf(fieldsOf(fieldsOf(value)['memoryMap'])['memory'])['systemReserved'];
    if (typeof bytes === 'number' && Number.isSafeInteger(bytes)) reserved[node] = BigInt(bytes);
  }
  return { policyName, ...(Object.keys(reserved).length === 0 ? {} : { reserved }) };
}

/** Whether a kubelet can parse the state file at all. */
export const isJson = (text: string): boolean => parsed(text) !== undefined;

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

interface Listener {
  address: string;
  port: number;
}

/** State of a listening socket in /proc/net/tcp and /proc/net/tcp6. */
const LISTEN = '0A';
const SOCKET = /^\s*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) (?:\S+\s+\S+\s+\S+\s+\d+\s+\d+\s+(\d+))?/;
/** Most lines that are read: a busy host has some thousand connections. */
const MAX_LINES = 200_000;

/** The listening sockets of either table; lines of another form are skipped. */
export function listeners(table: string): Listener[] {
  return listeningSockets(table).map(({ address, port }) => ({ address, port }));
}

/** As {@link listeners}, with the inode: `/proc/PID/fd/N` of the owner links to `socket:[INODE]`. '' where the line has no inode. */
export function listeningSockets(table: string): (Listener & { inode: string })[] {
  const found: (Listener & { inode: string })[] = [];
  for (const line of table.split('\n', MAX_LINES)) {
    const [, address = '', port = '', state, inode = ''] = SOCKET.exec(line) ?? [];
    if (state === LISTEN) found.push({ address: addressOf(address), port: Number.parseInt(port, 16), inode });
  }
  return found;
}

/** Parses words of 4 bytes, each with its lowest byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).toReversed());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  const mapped = bytes.slice(0, 12).join('') === '00000000000000000000ffff'.toUpperCase();
  if (mapped) return bytes.slice(12).map((byte) => Number.parseInt(byte, 16)).join('.'); // prettier-ignore
  return canonical((bytes.join('').match(/.{4}/g) ?? []).join(':'));
}

/** A line of /proc/PID/mountinfo: `36 35 98:0 /root /mount/point rw,noatime ...` */
const MOUNT = /^\d+ \d+ \S+ \S+ (\S+) (\S+)/;

/** Which of these paths are on a read-only mount. The last mount over a path counts. */
export function readOnlyPaths(mountinfo: string, paths: readonly string[]): string[] {
  const mounts = mountinfo.split('\n').flatMap((line) => {
    const [, at, options] = MOUNT.exec(line) ?? [];
    return at === undefined ? [] : [{ at, isReadOnly: options?.split(',').includes('ro') === true }];
  });
  return paths.filter((path) => {
    const over = mounts.filter(({ at }) => at === '/' || path === at || path.startsWith(`${at}/`));
    const longest = Math.max(0, ...over.map(({ at }) => at.length));
    return over.findLast(({ at }) => at.length === longest)?.isReadOnly === true;
  });
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s[^-]*-----END \1-----/g;

const blocksOf = (text: string, isWanted: (type: string) => boolean): string[] =>
  [...text.matchAll(BLOCK)].filter(([, type = '']) => isWanted(type)).map(([block]) => block);

const isCertificate = (type: string): boolean => type === 'CERTIFICATE';
const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

/** The content of a PEM file as Go's TLS reads it: other blocks, and text between blocks, are skipped. */
export function pemFacts(text: string): PemFacts {
  const certificates = blocksOf(text, isCertificate);
  return {
    bytes: text.length,
    certificates: certificates.length,
    keys: blocksOf(text, isKey).length,
    damaged: certificates.some((block) => certificateOf(block) === undefined),
  };
}

/** Whether the first key belongs to the first certificate; undefined where one of them is missing or cannot be parsed. */
export function pairMatches(certificates: string, keys: string): boolean | undefined {
  const certificate = certificateOf(blocksOf(certificates, isCertificate)[0] ?? '');
  const [key] = blocksOf(keys, isKey);
  if (certificate === undefined || key === undefined) return undefined;
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return undefined;
  }
}

/** The certificates of a PEM file that can be parsed, in the order of the file. */
export function certificatesIn(text: string): X509Certificate[] {
  return blocksOf(text, isCertificate).flatMap((block) => certificateOf(block) ?? []);
}

function certificateOf(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}
