/** Types that this folder shares with the rest of the agent. */

/** A kubelet's version as far as configuration depends on it. */
export interface KubeletVersion {
  major: number;
  minor: number;
  patch: number;
  /** As it was written: `v1.34.2+vendor`. */
  text: string;
  /** The kubelet's real version, where it is newer than the tables and this version replaces it. */
  newer?: string;
}

/** Class of a change of a field on a live node, from the field table. */
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
  /** Line in the text, from 1; only for findings that the field does not locate. */
  line?: number;
  /** Only in the last finding of a list that was too long: how many findings are left out. */
  more?: number;
}

export type Decoded =
  | {
      ok: true;
      /** As written: key order kept, unknown fields kept, nothing defaulted. Includes apiVersion and kind. */
      written: JsonObject;
      /** What strict decoding would have rejected (unknown fields, duplicate keys), and fields that this version does not know. */
      warnings: readonly Finding[];
    }
  | {
      ok: false;
      /** For logs: without values. */
      errors: readonly Finding[];
      /** The document without everything that is wrong, and the warnings for that part; absent where nothing could be decoded. */
      rest?: { written: JsonObject; warnings: readonly Finding[] };
    };

/** Facts about the host; all optional: an unknown fact is not checked. Read by agent/host/host.ts. */
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
  /** Sizes of the allocated huge pages, as Kubernetes names them: `hugepages-2Mi`. */
  hugePages?: readonly string[];
  /** Whether systemd is the host's init. */
  systemd?: boolean;
  /** From the kubelet's cpu_manager_state; undefined when there is no such file. The same for memory_manager_state. */
  cpuManagerState?: { policyName: string; /** CPUs that no container has to itself. */ sharedCpus?: readonly number[] };
  memoryManagerState?: {
    policyName: string;
    /** NUMA node id -> bytes that were reserved when the file was written. */ reserved?: Readonly<Record<string, bigint>>;
  };
  /** Names of the kubelet's state files that hold no JSON. */
  damagedStates?: readonly string[];
  /** Kernel settings that a kubelet cannot write here, as paths below /proc/sys. */
  readOnlySysctls?: readonly string[];
  /** path -> content of a PEM file; only for files that could be read. */
  pem?: Readonly<Record<string, PemFacts>>;
  /** Whether the key in tlsPrivateKeyFile belongs to the first certificate in tlsCertFile; undefined where one of them is unknown. */
  tlsPairMatches?: boolean;
  /** TCP ports on which another program than the kubelet listens. */
  listening?: readonly { address: string; port: number }[];
  /** Whether /etc/subuid has IDs for the user `kubelet`, for user namespaces. */
  kubeletSubIds?: boolean;
  /** resolv.conf files with a line that the kubelet cannot parse. */
  damagedResolvConf?: readonly string[];
  /** sysctl name (`vm/overcommit_memory`) -> value, for protectKernelDefaults. */
  sysctls?: Readonly<Record<string, string>>;
  /** path -> what exists there; only for the paths of `pathsToProbe`. */
  paths?: Readonly<Record<string, 'file' | 'dir' | 'missing' | 'unreadable'>>;
  /** Host addresses. */
  addresses?: readonly string[];
}

/** Content of a PEM file. */
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

/** Facts about this node's kubelet. */
export interface KubeletFacts {
  version: KubeletVersion;
  /** Arguments of the kubelet, without the program name. Flags override any config. */
  args: readonly string[];
  /** Feature gates in the kubelet's --help, with the default; undefined when --help was not run. */
  knownGates?: ReadonlyMap<string, { default: boolean; stage: string }>;
  /** Flags in the kubelet's --help; undefined when --help was not run. */
  knownFlags?: ReadonlySet<string>;
}

/** Most findings that are listed; the rest is counted. */
export const MAX_FINDINGS = 100;
/** Most characters of a field's path in a finding or in a policy. The longest path in the field table has 52. */
export const MAX_NAME = 500;

/** A field's path for messages: cut, so that a key of a megabyte does not fill the log. */
export function shownName(field: string): string {
  return field.length > MAX_NAME ? `${field.slice(0, MAX_NAME)}…` : field;
}

/** The findings for the first {@link MAX_FINDINGS} items; `word` is called for those only. One more finding counts the rest. */
export function firstFindings<T>(items: readonly T[], word: (item: T) => Finding): Finding[] {
  const named = items.slice(0, MAX_FINDINGS).map((item) => word(item));
  return items.length > MAX_FINDINGS ? [...named, andMore(items.length - MAX_FINDINGS)] : named;
}

/** The first {@link MAX_FINDINGS} of several lists together. One more finding counts the rest, including the counts in those lists. */
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

/** Splits a list of {@link cappedFindings} into its findings and the number of findings that are left out. */
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

/** The finding that ends a cut list. */
export function andMore(more: number): Finding {
  return { field: '', rule: 'more', message: `and ${more} more`, more };
}
