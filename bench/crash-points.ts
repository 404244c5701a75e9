import { sweepCrashes } from '../test/unit/agent/store/crash-sweep.ts';
import { storeChanges } from '../test/unit/agent/store/store-changes.ts';
import type { Figure } from './figure.ts';

/** Counts the states in which a fault or power failure during a change can leave the store, and those that boot cannot use. */
export async function crashPoints(): Promise<Figure[]> {
  let disks = 0;
  const violations: string[] = [];
  for (const change of storeChanges) {
    const sweep = await sweepCrashes(change);
    disks += sweep.disks;
    violations.push(...sweep.violations);
  }
  for (const violation of violations.slice(0, 10)) console.error(violation);
  return [
    {
      what: `crash points in the store: lost or unusable, of ${disks} disks after ${storeChanges.length} kinds of change`,
      ours: { name: 'store', unit: 'lost', values: [violations.length] },
      reach: { atMost: 0 },
    },
  ];
}
