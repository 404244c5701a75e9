import { faultKinds as ofControllers, type FaultKind } from '../../../support/simulated/faulty-calls.ts';
import type { WatchFault } from '../../../support/simulated/faulty-watches.ts';
import type { SeenCall } from '../../../support/simulated/intercepted.ts';
import { sweepCalls, sweepEvents, type Swept, type Theatre } from '../../../support/simulated/sweeping.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { SchedulerConfig } from '../../../../scheduler/config/config.ts';
import { Witness } from './audit.ts';
import { Stage } from './stage.ts';
import type { Story } from './stories.ts';
import { SchedulerWorld } from './world.ts';

/** Somebody who takes pods away changes how the story ends. */
export const faultKinds: readonly FaultKind[] = [
  ...ofControllers
    .filter((kind) => kind.class !== 'gone')
    .map((kind): FaultKind => ({
      ...kind,
      do(call, pass, world) {
        // No scheduler can help that a binding which it gave up comes true.
        if (kind.name === 'no answer in time, and an effect after that' && world instanceof SchedulerWorld) world.isLate = true;
        return kind.do(call, pass, world);
      },
    })),
  {
    name: '409, out of the server itself',
    class: 'conflict',
    befalls: ({ verb }) => verb === 'post',
    async do({ key }) {
      throw new ApiError({ method: 'POST', path: key, host: 'local' }, { code: 409, reason: 'Conflict', message: 'the test says so' });
    },
  },
];

/** {@link sweepCalls} before a scheduler. @param config - over the defaults */
export async function sweep(
  story: Story,
  kinds: (call: SeenCall, n: number) => readonly FaultKind[],
  config: Partial<SchedulerConfig> = {},
): Promise<Swept> {
  return sweepCalls(await theatre(config), story, kinds);
}

/** {@link sweepEvents} before a scheduler. */
export async function sweepWatches(story: Story, kinds: (n: number) => readonly WatchFault[]): Promise<Swept> {
  return sweepEvents(await theatre(), story, kinds);
}

async function theatre(config: Partial<SchedulerConfig> = {}): Promise<Theatre<Stage>> {
  const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 300, endMs: () => 200 }, config });
  const { problems } = new Witness(world.api, () => world.isLate);
  const invariants: Theatre<Stage>['invariants'] = { watching: { call: (_, pass) => pass() }, problems, unknownSince: () => 0 };
  return { world, stage: new Stage(world), invariants, isMade: () => false };
}
