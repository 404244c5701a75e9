import { compactKey } from '../pod/compact-key.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { volumeKey } from '../volumes/pod-volumes.ts';

const known = new WeakMap<PodInfo, string>();

/** The same text for pods that the same events can help: all that filters look at but their own labels. One that cannot be read is like no other. */
export function podClassKey(info: PodInfo): string {
  const seen = known.get(info);
  if (seen !== undefined) return seen;
  let key: string;
  try {
    key = keyOf(info);
  } catch {
    key = `uid ${info.uid}`;
  }
  known.set(info, key);
  return key;
}

function keyOf(info: PodInfo): string {
  const { spec } = info.pod;
  const { cpu, memory, ephemeral, scalars } = info.requests;
  const taken = (spec?.topologySpreadConstraints ?? []).flatMap(
    (constraint) => (constraint as { matchLabelKeys?: string[] }).matchLabelKeys?.map((key) => info.labels[key] ?? '') ?? [],
  );
  const text = JSON.stringify([
    info.namespace,
    info.schedulerName,
    [cpu, memory, ephemeral, [...scalars]],
    info.ports,
    spec?.tolerations,
    spec?.nodeSelector,
    spec?.affinity,
    spec?.topologySpreadConstraints,
    taken,
    volumeKey(info),
  ]);
  return compactKey(text);
}
