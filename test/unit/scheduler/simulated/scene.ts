import type { TestContext } from 'node:test';
import type { PodCondition } from 'kubernetes-types/core/v1.js';
import { coreEvents, pods as podKind } from '../../../../kube/api/object.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { Event } from '../../../support/stories/remains.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import type { SimProcess } from '../../../support/simulated/sim-world.ts';
import { Stage } from './stage.ts';
import { SchedulerWorld, type SchedulerWorldOptions } from './world.ts';

export interface Scene {
  readonly world: SchedulerWorld;
  readonly stage: Stage;
  readonly scheduler: SimProcess;
  readonly find: (name: string) => Pod | undefined;
  /** '' for nowhere. */
  readonly nodeOf: (name: string) => string;
  /** Whether it has a place, and why not. */
  readonly condition: (name: string) => PodCondition | undefined;
  /** About an object of the namespace. */
  readonly events: (name: string) => Promise<Event[]>;
  readonly change: (name: string, change: object, subresource?: string) => Promise<unknown>;
}

export interface SceneOptions extends Omit<SchedulerWorldOptions, 'pace'> {
  /** Comes between the scheduler and the API. */
  readonly by?: Interceptor;
  /** What pods take to end. @default 100 */
  readonly endMs?: number;
}

/** A scheduler at work, and nodes of 4 cpus. */
export async function scene(t: TestContext, nodes: readonly string[], { by, endMs = 100, ...options }: SceneOptions = {}): Promise<Scene> {
  const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 0, endMs: () => endMs }, ...options });
  t.after(() => world.stop());
  const stage = new Stage(world);
  stage.begin(nodes);
  const scheduler = world.start(by);
  await world.clock.advance(1_000);
  const find = (name: string): Pod | undefined => world.pods().find(({ metadata }) => metadata.name === name);
  return {
    world,
    stage,
    scheduler,
    find,
    nodeOf: (name) => find(name)?.spec?.nodeName ?? '',
    condition: (name) => find(name)?.status?.conditions?.find(({ type }) => type === 'PodScheduled'),
    events: async (name) =>
      (await world.user.list<Event>(coreEvents, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` })).items,
    change: (name, change, subresource) =>
      world.user.patch(podKind, { namespace: 'default', name }, change, { type: 'merge', ...(subresource && { subresource }) }),
  };
}
