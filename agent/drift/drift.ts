/**
 * How a node can run something else than its agent wrote:
 * EffectiveFileChanged  the effective file is not what the agent wrote, or is gone
 * NotUsed               the kubelet's command line does not name the effective file
 * KubeletDiffers        the kubelet runs another configuration than the effective file holds
 */
export const DRIFT_KINDS = ['EffectiveFileChanged', 'NotUsed', 'KubeletDiffers'] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

export interface Drift {
  kind: DriftKind;
  /** One line for people: paths and names of fields, never a value. */
  detail: string;
  /** RFC 3339, UTC: when the agent first saw it. */
  since: string;
}

export function sameDrift(a: readonly Drift[] | undefined, b: readonly Drift[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every(({ kind, detail, since }, at) => isSame({ kind, detail, since }, b[at]));
}

const isSame = (a: Drift, b: Drift | undefined): boolean => a.kind === b?.kind && a.detail === b.detail && a.since === b.since;
