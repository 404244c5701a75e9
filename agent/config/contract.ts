/** Signatures that the rest of the agent builds on; the files beside this one keep them. */

/** A kubelet's version as far as configuration depends on it. */
export interface KubeletVersion {
  major: number;
  minor: number;
  patch: number;
  /** As it was written: `v1.34.2+vendor`. */
  text: string;
  /** The kubelet's version as it was written, where it is newer than all that is known and this one stands in. */
  newer?: string;
}

/** class of a change on a live node, from the field table. */
export type FieldClass = 'safe' | 'needs-drain' | 'dangerous' | 'node-specific';

/** JSON as parsed; integers beyond 2^53 stay exact (bigint). */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A finding about one field. Message holds path and rule, never a value. */
export interface Finding {
  /** Path as in the table (`authentication.x509.clientCAFile`, `featureGates.Foo`), or '' for the whole document. */
  field: string;
  /** Short name of the rule: `port`, `unknown-field`, `policy`, `duplicate-key`, `cpu-manager-state`, ... */
  rule: string;
  message: string;
  /** Where it is in the text, from 1; only what nothing else tells. */
  line?: number;
  /** Only in the last of a list that was too long: how many findings the list does not name. */
  more?: number;
}

export type Decoded =
  | {
      ok: true;
      /** As written: key order kept, unknown fields kept, nothing defaulted. Includes apiVersion and kind. */
      written: JsonObject;
      /** What strict decoding would have refused (unknown fields, duplicate keys), and fields this version does not know. */
      warnings: readonly Finding[];
    }
  | {
      ok: false;
      /** What a log may say: no values. */
      errors: readonly Finding[];
      /** What is left when everything wrong is taken out, and what is to be said of that; absent where nothing could be read. */
      rest?: { written: JsonObject; warnings: readonly Finding[] };
    };

/** What the node shows; everything optional: what is not known is not checked. Gathered at the edge (agent/host/host.ts). */
export interface HostFacts {
  swapOn?: boolean;
  cgroupVersion?: 1 | 2;
  /** Online CPU ids, as the kernel lists them. */
  onlineCpus?: readonly number[];
  /** NUMA node ids. */
  numaNodes?: readonly number[];
  memoryBytes?: bigint;
  /** Bytes of the file system that holds the kubelet's root directory. */
  diskBytes?: bigint;
  /** Sizes of the huge pages that are set aside, as Kubernetes names them: `hugepages-2Mi`. */
  hugePages?: readonly string[];
  /** Whether systemd is the host's init. */
  systemd?: boolean;
  /** Of the kubelet's cpu_manager_state and memory_manager_state, undefined when there is no such file. */
  cpuManagerState?: { policyName: string; /** CPUs that no container has to itself. */ sharedCpus?: readonly number[] };
  memoryManagerState?: {
    policyName: string;
    /** NUMA node id -> bytes that were reserved when the file was written. */ reserved?: Readonly<Record<string, bigint>>;
  };
  /** Names of the kubelet's state files that hold no JSON. */
  damagedStates?: readonly string[];
  /** Kernel settings that a kubelet cannot write here, as paths below /proc/sys. */
  readOnlySysctls?: readonly string[];
  /** path -> what a PEM file holds; only of those that could be read. */
  pem?: Readonly<Record<string, PemFacts>>;
  /** Whether the key in tlsPrivateKeyFile is that of the first certificate in tlsCertFile; undefined where one of them is not known. */
  tlsPairMatches?: boolean;
  /** TCP ports that somebody else than the kubelet listens on. */
  listening?: readonly { address: string; port: number }[];
  /** Whether the kubelet's user has IDs of its own for user namespaces in /etc/subuid. */
  kubeletSubIds?: boolean;
  /** resolv.conf files with a line that the kubelet cannot parse. */
  damagedResolvConf?: readonly string[];
  /** sysctl name (`vm/overcommit_memory`) -> value, for protectKernelDefaults. */
  sysctls?: Readonly<Record<string, string>>;
  /** path -> what is there; only the paths that `pathsToProbe` asked for. */
  paths?: Readonly<Record<string, 'file' | 'dir' | 'missing' | 'unreadable'>>;
  /** Host addresses. */
  addresses?: readonly string[];
}

/** What a PEM file holds. */
export interface PemFacts {
  /** Bytes of the file. */
  bytes: number;
  /** Blocks that are certificates. */
  certificates: number;
  /** Blocks that are private keys. */
  keys: number;
  /** A certificate block cannot be parsed. */
  damaged: boolean;
}

/** What is known about this node's kubelet beyond its version. */
export interface KubeletFacts {
  version: KubeletVersion;
  /** Arguments it is started with (no program name). Flags beat any config. */
  args: readonly string[];
  /** Feature gates its own --help lists, with the default; undefined when the binary was not asked. */
  knownGates?: ReadonlyMap<string, { default: boolean; stage: string }>;
  /** Flags its own --help lists; undefined when the binary was not asked. */
  knownFlags?: ReadonlySet<string>;
}

/** Findings that are named; the rest is counted. */
export const MAX_FINDINGS = 100;
/** Letters of a field's path that a finding shows, and that a policy can name. The longest path of the table has 52. */
export const MAX_NAME = 500;

/** A field's path for messages: cut, so that a key of a megabyte does not fill the log. */
export function shownName(field: string): string {
  return field.length > MAX_NAME ? `${field.slice(0, MAX_NAME)}…` : field;
}

/** The findings on the first {@link MAX_FINDINGS} items; only those are worded. One more finding counts the rest. */
export function firstFindings<T>(items: readonly T[], word: (item: T) => Finding): Finding[] {
  const named = items.slice(0, MAX_FINDINGS).map((item) => word(item));
  return items.length > MAX_FINDINGS ? [...named, andMore(items.length - MAX_FINDINGS)] : named;
}

/** The first {@link MAX_FINDINGS} of several lists together; the rest is counted, with what those lists have counted already. */
export function cappedFindings(...lists: readonly (readonly Finding[])[]): Finding[] {
  const named: Finding[] = [];
  let more = 0;
  for (const finding of lists.flat()) {
    if (finding.more !== undefined) more += finding.more;
    else if (named.length < MAX_FINDINGS) named.push(shown(finding));
    else more++;
  }
  if (more > 0) named.push(andMore(more));
  return named;
}

/** A list as {@link cappedFindings} makes it, taken apart: what is named, and how many more there are. */
export function splitFindings(findings: readonly Finding[]): { named: readonly Finding[]; more: number } {
  const more = findings.at(-1)?.more;
  return more === undefined ? { named: findings, more: 0 } : { named: findings.slice(0, -1), more };
}

function shown(finding: Finding): Finding {
  const { field, message } = finding;
  if (field.length <= MAX_NAME) return finding;
  return {
    ...finding,
    field: shownName(field),
    message: message.startsWith(field) ? `${shownName(field)}${message.slice(field.length)}` : message,
  };
}

/** Ends a list of which only the first part is named. */
export function andMore(more: number): Finding {
  return { field: '', rule: 'more', message: `and ${more} more`, more };
}
