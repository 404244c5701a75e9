import type { Pod } from '../../../controllers/common/types.ts';
import {
  controllerRevisions,
  coreEvents,
  daemonSets,
  type KubeObject,
  persistentVolumeClaims,
  pods,
  type Resource,
  statefulSets,
} from '../../../kube/api/object.ts';
import { daemonSetLines } from './daemonset/remains.ts';
import { Stage as DaemonSetStage } from './daemonset/stage.ts';
import type { Event, Remains } from './remains.ts';
import type { Stage, WorkloadSet } from './stage.ts';
import type { Story } from './story.ts';
import { statefulSetLines } from './statefulset/remains.ts';
import { Stage as StatefulSetStage } from './statefulset/stage.ts';
import type { Revision, World } from './world.ts';

/** Plays a story. @returns what it left behind, a line each; one that failed says so in a line `FAILED ...` */
export type Play<S> = (world: World, story: S) => Promise<string[]>;

/** Events come after what they tell of: so long where nothing else shows that they have come. */
const EVENTS_MS = 10_000;

export const playDaemonSets: Play<Story<DaemonSetStage>> = async (world, story) => {
  const stage = await DaemonSetStage.open(world, story.name);
  const failure = await failureOf(story.play(stage));
  const remains = await remainsOf(world, stage, { sets: daemonSets, component: 'daemonset-controller', failure });
  const events = story.manyEvents === true ? [] : remains.events;
  return daemonSetLines({ ...remains, events }, story.name, story.anyNode === true);
};

export const playStatefulSets: Play<Story<StatefulSetStage>> = async (world, story) => {
  const stage = await StatefulSetStage.open(world, story.name);
  const failure = await failureOf(story.play(stage));
  const remains = await remainsOf(world, stage, { sets: statefulSets, component: 'statefulset-controller', failure });
  const told = story.manyEvents === true ? [] : remains.events;
  const events = story.manyFailures === true ? told.filter(({ type }) => type === 'Warning') : told;
  return statefulSetLines({ ...remains, events, course: stage.events }, story.anyOrder === true);
};

async function failureOf(played: Promise<void>): Promise<string | undefined> {
  try {
    await played;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it threw';
  }
}

interface Of {
  sets: Resource;
  /** Whose events count. */
  component: string;
  failure: string | undefined;
}

async function remainsOf<S extends WorkloadSet>(world: World, stage: Stage<S>, { sets, component, failure }: Of): Promise<Remains> {
  stage.close();
  const { client } = world;
  const items = async <T extends KubeObject>(resource: Resource): Promise<T[]> =>
    (await client.list<T>(resource, { namespace: stage.name })).items;
  if (world.fence === undefined) await world.isQuiet(stage.name, EVENTS_MS);
  else await world.fence.told();
  const events = await items<Event>(coreEvents);
  return {
    sets: await items(sets),
    pods: await items<Pod>(pods),
    claims: await items(persistentVolumeClaims),
    revisions: await items<Revision>(controllerRevisions),
    events: events.filter(({ source, reportingComponent }) => source?.component === component || reportingComponent === component),
    notes: stage.notes,
    course: [],
    ...(failure === undefined ? {} : { failure }),
  };
}
