import type { Rejection } from '../plugins/rejection.ts';
import type { FilterName } from '../plugins/names.ts';
import { decideBinding, filterBinding } from './binding.ts';
import type { StorageView, VolumeNeeds, VolumeNode, VolumeRules } from './contract.ts';
import { filterLimits } from './limits.ts';
import { needsOf } from './needs.ts';
import { volumeKey } from './pod-volumes.ts';
import { filterRestrictions } from './restrictions.ts';
import { filterZone } from './zone.ts';

type Filter = (needs: VolumeNeeds, on: VolumeNode, view: StorageView) => Rejection | undefined;

/** In the order in which they are asked. */
const filters: readonly (readonly [plugin: FilterName, filter: Filter])[] = [
  ['VolumeRestrictions', filterRestrictions],
  ['NodeVolumeLimits', filterLimits],
  ['VolumeBinding', filterBinding],
  ['VolumeZone', filterZone],
];

export const volumeRules: VolumeRules = {
  key: volumeKey,
  needs: needsOf,
  filter(needs, on, view, disabled) {
    for (const [plugin, filter] of filters) {
      if (disabled?.has(plugin)) continue;
      const refused = filter(needs, on, view);
      if (refused !== undefined) return refused;
    }
    return undefined;
  },
  decide: decideBinding,
};
