import type { FaultKind } from '../../../../support/simulated/faulty-calls.ts';
import type { WatchFault } from '../../../../support/simulated/faulty-watches.ts';
import type { SeenCall } from '../../../../support/simulated/intercepted.ts';
import { Invariants } from './invariants.ts';
import { SimWorld } from '../../../../support/simulated/sim-world.ts';
import { Stage } from './stage.ts';
import type { Story } from './stories.ts';
import { sweepCalls, sweepEvents, type Swept, type Theatre } from '../../../../support/simulated/sweeping.ts';

/** {@link sweepCalls} before a DaemonSet controller. */
export function sweep(story: Story, kinds: (call: SeenCall, n: number) => readonly FaultKind[]): Promise<Swept> {
  return sweepCalls(theatre(), story, kinds);
}

/** {@link sweepEvents} before a DaemonSet controller. */
export function sweepWatches(story: Story, kinds: (n: number) => readonly WatchFault[]): Promise<Swept> {
  return sweepEvents(theatre(), story, kinds);
}

function theatre(): Theatre<Stage> {
  const world = new SimWorld({ pace: { bindMs: () => 0, startMs: () => 300, endMs: () => 200 } });
  const isMade: Theatre<Stage>['isMade'] = ({ metadata: { generateName } }) => generateName !== undefined;
  return { world, stage: new Stage(world), invariants: new Invariants(world.api, world.clock), isMade };
}
