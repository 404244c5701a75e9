import type { Claim, Pod, StatefulSet } from '../../../../controllers/statefulset/types.ts';
import { coreEvents } from '../../../../kube/api/object.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets } from '../../../../kube/api/resources.ts';
import type { Event } from '../../../support/stories/daemonset/dump.ts';
import type { SubjectName } from '../cluster/controllers.ts';
import { playStories } from '../cluster/play-stories.ts';
import type { Played } from '../cluster/play-stories.ts';
import type { Revision, World } from '../../../support/stories/world.ts';
import { dump } from '../../../support/stories/statefulset/dump.ts';
import { startKeeper, startWorld } from '../cluster/set-world.ts';
import { Stage } from '../../../support/stories/statefulset/stage.ts';
import type { Story } from '../../../support/stories/statefulset/story.ts';

const AT_ONCE = 16;
const COMPONENT = 'statefulset-controller';

/** @see playStories */
export async function playAll(subject: SubjectName, stories: readonly Story[]): Promise<Played> {
  const world = await startWorld();
  return playStories(world, () => startKeeper(subject, world.plane), { stories, atOnce: AT_ONCE, play });
}

async function play(world: World, story: Story): Promise<string[]> {
  const stage = await Stage.open(world, story.name);
  let failure: string | undefined;
  try {
    await story.play(stage);
  } catch (error) {
    failure = error instanceof Error ? error.message : 'it threw';
  }
  stage.close();
  const { client } = world;
  const all = { namespace: story.name };
  const events = await eventsOf(world, story);
  const [sets, left, claims, revisions] = await Promise.all([
    client.list<StatefulSet>(statefulSets, all),
    client.list<Pod>(pods, all),
    client.list<Claim>(persistentVolumeClaims, all),
    client.list<Revision>(controllerRevisions, all),
  ]);
  const remains = {
    sets: sets.items,
    pods: left.items,
    claims: claims.items,
    revisions: revisions.items,
    events,
    notes: stage.notes,
    course: stage.events,
    ...(failure === undefined ? {} : { failure }),
  };
  return dump(remains, story.anyOrder === true);
}

/** Events come after what they tell of, on a busy machine by seconds. */
async function eventsOf({ client, fence }: World, { name: namespace, manyFailures }: Story): Promise<Event[]> {
  await fence?.told();
  const { items } = await client.list<Event>(coreEvents, { namespace });
  const own = items.filter(({ source, reportingComponent }) => source?.component === COMPONENT || reportingComponent === COMPONENT);
  return manyFailures === true ? own.filter(({ type }) => type === 'Warning') : own;
}
