import { coreEvents } from '../../../../kube/api/object.ts';
import { controllerRevisions, daemonSets, pods } from '../../../../kube/api/resources.ts';
import type { DaemonSet, Pod } from '../../../../controllers/daemonset/types.ts';
import { dump } from '../../../support/stories/daemonset/dump.ts';
import type { Event } from '../../../support/stories/daemonset/dump.ts';
import { Stage } from '../../../support/stories/daemonset/stage.ts';
import { startSubject } from '../cluster/controllers.ts';
import type { SubjectName } from '../cluster/controllers.ts';
import { playStories } from '../cluster/play-stories.ts';
import type { Played } from '../cluster/play-stories.ts';
import type { Story } from '../../../support/stories/daemonset/story.ts';
import { RealWorld } from '../cluster/real-world.ts';
import type { Revision, World } from '../../../support/stories/world.ts';

const AT_ONCE = 8;
const COMPONENT = 'daemonset-controller';

/** @see playStories */
export async function playAll(subject: SubjectName, stories: readonly Story[]): Promise<Played> {
  const world = await RealWorld.begin({ fence: daemonSets });
  return playStories(world, () => startSubject(subject, world.plane), { stories, atOnce: AT_ONCE, play });
}

async function play(world: World, story: Story): Promise<string[]> {
  const stage = await Stage.open(world, story.name);
  let failure: string | undefined;
  try {
    await story.play(stage);
  } catch (error) {
    failure = error instanceof Error ? error.message : 'it threw';
  }
  const { client } = world;
  const all = { namespace: story.name };
  const events = await eventsOf(world, story.name);
  const [sets, left, revisions] = await Promise.all([
    client.list<DaemonSet>(daemonSets, all),
    client.list<Pod>(pods, all),
    client.list<Revision>(controllerRevisions, all),
  ]);
  const remains = {
    sets: sets.items,
    pods: left.items,
    revisions: revisions.items,
    events,
    notes: stage.notes,
    ...(failure === undefined ? {} : { failure }),
  };
  return dump(remains, story.name, story.anyNode === true);
}

/** Events come after what they tell of, on a busy machine by seconds. */
async function eventsOf({ client, fence }: World, namespace: string): Promise<Event[]> {
  await fence?.told();
  const { items } = await client.list<Event>(coreEvents, { namespace });
  return items.filter(({ source, reportingComponent }) => source?.component === COMPONENT || reportingComponent === COMPONENT);
}
