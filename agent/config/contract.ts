/** Signatures that the rest of the agent builds on; the files beside this one keep them. */

/** A kubelet's version as far as configuration depends on it. */
export interface KubeletVersion {
  major: number;
  minor: number;
  patch: number;
  /** As it was written: `v1.34.2+vendor`. */
  text: string;
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

/** What the node shows; everything optional: what is not known is not judged. Gathered at the edge (agent/host.ts). */
export interface HostFacts {
  swapOn?: boolean;
  cgroupVersion?: 1 | 2;
  /** Online CPU ids, as the kernel lists them. */
  onlineCpus?: readonly number[];
  /** NUMA node ids. */
  numaNodes?: readonly number[];
  memoryBytes?: bigint;
  /** policyName of /var/lib/kubelet/cpu_manager_state and memory_manager_state, undefined when there is no such file. */
  cpuManagerState?: { policyName: string };
  memoryManagerState?: { policyName: string };
  /** sysctl name (`vm/overcommit_memory`) -> value, for protectKernelDefaults. */
  sysctls?: Readonly<Record<string, string>>;
  /** path -> what is there; only the paths that `pathsToProbe` asked for. */
  paths?: Readonly<Record<string, 'file' | 'dir' | 'missing' | 'unreadable'>>;
  /** Host addresses. */
  addresses?: readonly string[];
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
