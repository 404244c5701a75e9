import { applyDefaults, compareConfigs, decode, resolvePaths, type Difference } from '../config/config.ts';
import type { JsonObject, KubeletVersion } from '../config/contract.ts';
import { problemText } from '../judge/local.ts';

/** One of the two that are compared. */
export interface Side {
  /** For people: the REF as asked, or `local config`. */
  title: string;
  files: ReadonlyMap<string, Uint8Array>;
  kubeletConfigKey: string;
  /** Relative paths mean this directory; absent where both sides' directories mean the same, as those of two checkpoints do. */
  dir?: string;
}

/** A file beside the kubelet configuration that is not the same on both sides; null where it is missing. */
export interface FileDifference {
  key: string;
  from: string | null;
  to: string | null;
}

export type Compared =
  | { ok: true; fields: readonly Difference[]; files: readonly FileDifference[] }
  /** One of them is no kubelet configuration: exit 1. */
  | { ok: false; why: string };

/** What differs in effect between two configurations, both with the defaults of `version`, and which of their other files differ. */
export function compareSides(from: Side, to: Side, version: KubeletVersion): Compared {
  const [a, b] = [effectOf(from, version), effectOf(to, version)];
  if (typeof a === 'string') return { ok: false, why: a };
  if (typeof b === 'string') return { ok: false, why: b };
  return { ok: true, fields: compareConfigs(a, b, { byKey: true }), files: compareFiles(from, to) };
}

/** The configuration with defaults, or what keeps it from being one. */
function effectOf({ title, files, kubeletConfigKey, dir }: Side, version: KubeletVersion): JsonObject | string {
  const bytes = files.get(kubeletConfigKey);
  if (!bytes) return `${title} has no key ${JSON.stringify(kubeletConfigKey)}; its keys are ${Array.from(files.keys()).join(', ')}`;
  const decoded = decode(bytes, version);
  if (!decoded.ok) return `${title} is no kubelet configuration: ${problemText(decoded.errors)}`;
  return applyDefaults(dir === undefined ? decoded.written : resolvePaths(decoded.written, dir, version), version);
}

function compareFiles(from: Side, to: Side): FileDifference[] {
  const beside = (side: Side) => Array.from(side.files.keys()).filter((key) => key !== side.kubeletConfigKey);
  const text = (side: Side, key: string): string | null => {
    const bytes = key === side.kubeletConfigKey ? undefined : side.files.get(key);
    return bytes ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : null;
  };
  return [...new Set([...beside(from), ...beside(to)])]
    .toSorted()
    .map((key) => ({ key, from: text(from, key), to: text(to, key) }))
    .filter((one) => one.from !== one.to);
}
