import type { Rejection } from '../plugins/rejection.ts';
import type { Volume } from '../types.ts';
import type { VolumeNeeds, VolumeNode } from './contract.ts';

/** Old names and what they are called now. */
const successors: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};
const zoneLabels = Object.entries(successors).flat();
const OTHER_ZONE: Rejection = { plugin: 'VolumeZone', resolvable: false, reasons: ['node(s) had no available volume zone'] };

/** Zone and region of a bound volume, where its labels name them, must be the node's. A node that says nothing of zones takes all. */
export function filterZone({ bound }: VolumeNeeds, { node }: VolumeNode): Rejection | undefined {
  const labels = node.metadata.labels ?? {};
  if (bound.length === 0 || !zoneLabels.some((label) => labels[label] !== undefined)) return undefined;
  return bound.every(({ volume }) => volume === undefined || isInZone(volume, labels)) ? undefined : OTHER_ZONE;
}

function isInZone({ metadata }: Readonly<Volume>, labels: Readonly<Record<string, string>>): boolean {
  return zoneLabels.every((label) => {
    const zones = zonesOf(metadata.labels?.[label]);
    if (zones === undefined) return true;
    const zone = labels[label] ?? labels[successors[label] ?? ''];
    return zone !== undefined && zones.includes(zone);
  });
}

/** The zones in `a__b`. @returns undefined where nothing, or nothing that can be read, is said */
function zonesOf(value: string | undefined): string[] | undefined {
  const zones = value?.split('__').map((zone) => zone.trim());
  return zones?.includes('') ? undefined : zones;
}
