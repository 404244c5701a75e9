import type { Pod } from '../../../../controllers/common/types.ts';
import type { FaultKind } from '../../../support/simulated/faulty-calls.ts';
import type { WatchFault } from '../../../support/simulated/faulty-watches.ts';
import type { SeenCall } from '../../../support/simulated/intercepted.ts';
import { SimWorld } from '../../../support/simulated/sim-world.ts';
import { sweepCalls, sweepEvents, type AnyStage, type StoryOn, type Swept, type Theatre } from '../../../support/simulated/sweeping.ts';
import { rulesOf } from '../../../../controllers/daemonset/rules.ts';
import { targetNode } from '../../../../controllers/daemonset/pods.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { SetInvariants } from './invariants.ts';
import { Stage as DaemonSetStage } from '../daemonset/simulated/stage.ts';
import { stories as daemonSetStories } from '../daemonset/simulated/stories.ts';
import { Stage as StatefulSetStage } from '../statefulset/simulated/stage.ts';
import { stories as statefulSetStories } from '../statefulset/simulated/stories.ts';
import { simWorld } from '../statefulset/simulated/world.ts';

interface SweptStory {
  why: string;
  /** {@link sweepCalls} */
  calls(kinds: (call: SeenCall, n: number) => readonly FaultKind[]): Promise<Swept>;
  /** {@link sweepEvents} */
  events(kinds: (n: number) => readonly WatchFault[]): Promise<Swept>;
}

/** A controller on the simulated server, under every fault. */
export interface Subject {
  kind: string;
  stories: readonly SweptStory[];
  /** Those whose events are missed or late in `npm test` too. */
  alsoLate: ReadonlySet<string>;
}

const pace = { bindMs: () => 0, startMs: () => 300, endMs: () => 200 };

function storiesOn<S extends AnyStage>(stories: readonly StoryOn<S>[], theatre: () => Theatre<S>): SweptStory[] {
  return stories.map((story) => ({
    why: story.why,
    calls: (kinds) => sweepCalls(theatre(), story, kinds),
    events: (kinds) => sweepEvents(theatre(), story, kinds),
  }));
}

export const subjects: readonly Subject[] = [
  {
    kind: 'DaemonSet',
    stories: storiesOn(daemonSetStories, () => {
      const world = new SimWorld({ pace });
      const isMade: Theatre<DaemonSetStage>['isMade'] = ({ metadata: { generateName } }) => generateName !== undefined;
      const isSurging = (uid: string): boolean => world.sets().some((set) => set.metadata.uid === uid && rulesOf(set, 'scheduler').surging);
      const place = (pod: Pod): string | undefined => (isMade(pod) ? targetNode(pod) : undefined);
      const invariants = new SetInvariants(world.api, 'DaemonSet', place, (uid) => (isSurging(uid) ? 2 : 1));
      return { world, stage: new DaemonSetStage(world), invariants, isMade };
    }),
    alsoLate: new Set(['an update, two at a time', 'a set goes in the midst of an update, and another takes its name']),
  },
  {
    kind: 'StatefulSet',
    stories: storiesOn(statefulSetStories, () => {
      const world = simWorld(pace);
      const isMade: Theatre<StatefulSetStage>['isMade'] = (pod) => controllerOf(pod)?.kind === 'StatefulSet';
      const invariants = new SetInvariants(world.api, 'StatefulSet', (pod) => /\d+$/.exec(pod.metadata.name ?? '')?.[0], () => 1); // prettier-ignore
      return { world, stage: new StatefulSetStage(world), invariants, isMade };
    }),
    alsoLate: new Set(['a set shrinks from three to one', 'an update is taken back']),
  },
];
