import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { HostFacts } from '../../agent/config/contract.ts';

/** What a kubelet does under a configuration that passes its validation: `dies` before it is up, `dies late` after it said so. */
export type Fate = 'lives' | 'dies' | 'dies late' | 'never healthy' | 'not registered' | 'not Ready' | 'pods fail' | 'server fails';

/** How the real machine is made to be what the row says. */
export interface Arrangement {
  /** In a real API server. @default a standalone one, unless a pod or the fate needs it */
  registered?: boolean;
  standalone?: true;
  cgroups?: boolean;
  /** Files below DIR, by name: their text, or CERT, KEY, OTHERKEY for PEM files. */
  files?: Readonly<Record<string, string>>;
  state?: Readonly<Record<string, string>>;
  /** Port fields whose ports somebody else listens on. */
  taken?: readonly string[];
  runtime?: { driver?: 'SYSTEMD' | 'none'; notReady?: readonly ('RuntimeReady' | 'NetworkReady')[] };
  sysctlsReadOnly?: boolean;
  before?: string;
  /** Pods that run before, each with what its container asks for. */
  pods?: readonly { requests?: Record<string, string>; limits?: Record<string, string>; sysctls?: { name: string; value: string }[] }[];
}

export interface FatalRow {
  why: string;
  /** Fields over the base. DIR is the kubelet's own folder, PORT.FIELD the port of this field. */
  config?: string;
  /** Facts of a host on which it is so, for preflight alone. */
  host?: Omit<HostFacts, 'memoryBytes' | 'diskBytes'> & { memoryBytes?: number; diskBytes?: number };
  args?: string[];
  /** `field rule` of the error or warning that preflight finds; without an error the trial undoes it. */
  error?: string;
  warning?: string;
  and?: string;
  /** It is no valid one: the kubelet's own validation refuses it, and so does ours. */
  refused?: true;
  kubelet?: Fate;
  /** Seen too, as the timing of the machine has it. `lives`: a busy kubelet keeps the pods that it had, so that there is nothing to undo. */
  or?: Fate;
  /** In the line of the log that says why it ended. */
  says?: string;
  machine?: Arrangement;
  /** A test cannot let the agent see what the kubelet sees, so that only the kubelet is asked. */
  unseen?: true;
  ci?: true;
}

/** Rows of a table below fixtures/kubelet-config, by the kubelet's version. */
export function fatalRows(file: string): Record<string, FatalRow[]> {
  const url = new URL(`../../fixtures/kubelet-config/${file}`, import.meta.url);
  return parse(readFileSync(url, 'utf8')) as Record<string, FatalRow[]>;
}

export function factsOf({ host = {} }: FatalRow): HostFacts {
  const { memoryBytes, diskBytes, memoryManagerState: state, ...facts } = JSON.parse(JSON.stringify(host).replaceAll('DIR', '/DIR')) as NonNullable<FatalRow['host']>; // prettier-ignore
  const reserved = state?.reserved && Object.entries(state.reserved).map(([node, bytes]) => [node, BigInt(Number(bytes))] as const);
  return {
    ...facts,
    ...(state && { memoryManagerState: { ...state, ...(reserved && { reserved: Object.fromEntries(reserved) }) } }),
    ...(memoryBytes !== undefined && { memoryBytes: BigInt(memoryBytes) }),
    ...(diskBytes !== undefined && { diskBytes: BigInt(diskBytes) }),
  };
}

/** What the fields of a row are called on a host of the table: two CPUs, 16 GiB, the kubelet's folder /x. */
export const textOf = ({ config = '' }: FatalRow): string =>
  filled(config, { dir: 'DIR', port: () => 7, cpus: 2, memoryBytes: 16n << 30n }).replaceAll('DIR', '/DIR');

export function filled(
  text: string,
  { dir, port, cpus, memoryBytes }: { dir: string; port: (field: string) => number; cpus: number; memoryBytes: bigint },
): string {
  return text
    .replaceAll('DIR', dir)
    .replace(/PORT\.(\w+)/g, (_all, field: string) => String(port(field)))
    .replaceAll('CPUS-1', `"${cpus - 1}"`)
    .replaceAll('CPUS', `"${cpus}"`)
    .replaceAll('MEMORY-1Gi', `"${memoryBytes - (1n << 30n)}"`);
}
