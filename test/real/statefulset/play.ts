import { realClock } from '../../../base/clock.ts';
import type { Claim, Pod, StatefulSet } from '../../../controllers/statefulset/types.ts';
import { coreEvents } from '../../../kube/api/object.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets } from '../../../kube/api/resources.ts';
import type { Event } from '../daemonset/dump.ts';
import type { SubjectName } from '../cluster/controllers.ts';
import { playStories } from '../cluster/play-stories.ts';
import type { Played } from '../cluster/play-stories.ts';
import type { Revision, World } from '../cluster/world.ts';
import { dump } from './dump.ts';
import { startKeeper, startWorld } from './set-world.ts';
import { Stage } from './stage.ts';
import type { Story } from './stories/story.ts';

const AT_ONCE = 16;
const EVENTS_WITHIN_MS = 60_000;
const EVENTS_QUIET_MS = 1_500;
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

/**
 * Events come after what they tell of, on a busy machine by a second and more: it waits until every creation is told, and nothing new has come for more than
 * a second.
 */
async function eventsOf({ client, made }: World, { name: namespace, manyFailures }: Story): Promise<Event[]> {
  let quietSince = performance.now();
  let before = -1;
  for (const until = quietSince + EVENTS_WITHIN_MS; ; await realClock.sleep(200)) {
    const { items } = await client.list<Event>(coreEvents, { namespace });
    const own = items.filter(({ source, reportingComponent }) => source?.component === COMPONENT || reportingComponent === COMPONENT);
    if (manyFailures === true) return own.filter(({ type }) => type === 'Warning');
    const told = own
      .filter(({ reason, message = '' }) => reason === 'SuccessfulCreate' && message.includes('create Pod'))
      .reduce((sum, { count }) => sum + (count ?? 1), 0);
    const now = performance.now();
    if (own.length !== before) quietSince = now;
    before = own.length;
    if ((told >= (made.get(namespace) ?? 0) && now - quietSince > EVENTS_QUIET_MS) || now > until) return own;
  }
}
