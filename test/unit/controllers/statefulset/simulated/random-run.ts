import { seededRandom } from '../../../../../base/random.ts';
import { isReady } from '../../../../../controllers/common/pods.ts';
import { HASH_LABEL } from '../../../../../controllers/common/history/contract.ts';
import { noMemory } from '../../../../../controllers/common/set-memory.ts';
import { planOwnership, plan } from '../../../../../controllers/statefulset/plan.ts';
import { rulesOf } from '../../../../../controllers/statefulset/rules.ts';
import type { Pod, StatefulSet } from '../../../../../controllers/common/types.ts';
import { pods, statefulSets } from '../../../../../kube/api/object.ts';
import { controllerOf, isControlledBy } from '../../../../../kube/controller/owners.ts';
import { behaviourOf } from '../../../../support/hollow/behaviour.ts';
import { Crew } from '../../../../support/simulated/crew.ts';
import { playRandomly, type RandomRun, type Ran } from '../../../../support/simulated/play-randomly.ts';
import type { SimWorld } from '../../../../support/simulated/sim-world.ts';
import { ordinalsOf } from '../objects.ts';
import { acts } from './acts.ts';
import { Invariants } from './invariants.ts';
import { claimsOf, isGoing, NODE, setsOf, simWorld } from './world.ts';

const MINUTE = 60_000;
/** Longer than anything is waited for, and than a key that failed and failed waits. */
const CALM = 25 * MINUTE;
const QUIET = 10 * MINUTE;

/** Sets with all that can happen to them; every now and then they are left alone, and must be right and silent then. Ends with the first problem. */
export async function randomRun(run: RandomRun): Promise<Ran> {
  const pace = seededRandom(run.seed + 1);
  const times = { bindMs: () => 0, startMs: () => pace() * 1_500, endMs: () => pace() * 3_000 };
  const world = simWorld(times, { seed: run.seed, api: { watchWindow: 500 } });
  const invariants = new Invariants(world.api, world.clock);
  const crew = new Crew(world, invariants);
  const ran: Ran = { problems: invariants.problems, steps: 0, transcript: [], checked: invariants.checked, quiet: 0 };
  world.addNodes(NODE);
  return playRandomly({
    run,
    world,
    crew,
    acts,
    ran,
    sceneOf: (random) => ({ world, crew, random, invariants }),
    quiet: () => quiet(world, crew, ran.problems),
  });
}

async function quiet(world: SimWorld, crew: Crew, problems: string[]): Promise<void> {
  const { storage } = world.api.hooks;
  world.api.hooks.setFaults([]);
  crew.well();
  await world.clock.advance(30_000);
  // A pod that is nobody's and has a name that a set wants keeps it waiting, and nobody but people can end that.
  for (const { metadata } of world.pods().filter(isStray))
    await world.user.delete(pods, { name: metadata.name ?? '', namespace: 'default' }, { body: { gracePeriodSeconds: 0 } }).catch(() => {});
  await world.clock.advance(CALM);
  const from = crew.calls.length;
  for (const set of setsOf(world)) problems.push(...wrongWith(world, set));
  await world.clock.advance(QUIET);
  const calls = crew.calls.slice(from).map(({ verb, resource, key }) => `${verb} ${resource} ${key}`);
  if (calls.length > 0) problems.push(`when all is quiet there are ${calls.length} calls: ${calls.slice(0, 5).join(', ')}`);
  await mended(world);
  for (const set of setsOf(world)) problems.push(...wrongWith(world, set));
  for (const { metadata } of storage.list('/events').objects) storage.remove('/events', `${metadata.namespace}/${metadata.name}`);
}

/** What is broken, or held back, is put right by people; sets become whole by that. */
async function mended(world: SimWorld): Promise<void> {
  for (const set of setsOf(world)) {
    const ref = { name: set.metadata.name ?? '', namespace: 'default' };
    const { image = '' } = set.spec?.template.spec?.containers[0] ?? {};
    const well = image.startsWith('hollow/') ? { spec: { template: { spec: { containers: [{ name: 'c', image: 'v0' }] } } } } : {};
    const annotations = Object.fromEntries(Object.keys(set.metadata.annotations ?? {}).map((name) => [name, null]));
    await world.user.patch(statefulSets, ref, { ...well, metadata: { annotations } }, { type: 'merge' });
    await world.clock.advance(1_000);
    for (const pod of ownPods(world, set).filter((one) => behaviourOf(one).is !== 'ready'))
      await world.user.delete(pods, { name: pod.metadata.name ?? '', namespace: 'default' });
  }
  await world.clock.advance(5 * MINUTE);
}

function isStray({ metadata: { name = '', labels = {} } }: Pod): boolean {
  return labels['app'] !== name.replace(/-\d+$/, '');
}

/** What is not as a controller that sees all of the server would leave it. */
function wrongWith(world: SimWorld, set: StatefulSet): string[] {
  const { name = '' } = set.metadata;
  if (isGoing(set)) return [];
  const rules = rulesOf(set);
  const claims = new Map(claimsOf(world).map((claim) => [claim.metadata.name, claim]));
  const facts = planOwnership({
    rules,
    memory: noMemory,
    pods: world.pods().filter((pod) => controllerOf(pod) === undefined || isControlledBy(pod, set)),
    revisions: world.revisions().filter((one) => controllerOf(one) === undefined || isControlledBy(one, set)),
    pvc: (of) => claims.get(of),
    allPvcs: () => claimsOf(world),
    isTaken: () => false,
    storageClass: () => undefined,
    now: world.clock.now(),
  });
  const { groups, truncate } = plan(facts);
  const { adopt, release } = facts.adoption.pods;
  const open = { adopt, release, revisions: facts.adoption.revisions.adopt, history: facts.history.steps, groups, truncate };
  const left = Object.entries(open).flatMap(([what, is]) =>
    is.length > 0 ? [`${name} is left with ${what}: ${JSON.stringify(is).slice(0, 600)}`] : [],
  );
  return [...left, ...wrongPods(world, set), ...wrongStatus(world, set)];
}

/** Where nothing is broken and nobody said to wait, the set is whole. */
function wrongPods(world: SimWorld, set: StatefulSet): string[] {
  const { name, places, update, optIns } = rulesOf(set);
  const own = ownPods(world, set);
  if (own.some((pod) => behaviourOf(pod).is !== 'ready') || optIns.problems.length > 0) return [];
  const wrong: string[] = [];
  const wanted = ordinalsOf({ places }).map((ordinal) => `${name}-${ordinal}`);
  const has = own.map(({ metadata }) => metadata.name ?? '');
  if (has.toSorted().join() !== wanted.toSorted().join()) wrong.push(`${name} has ${has.join()} instead of ${wanted.join()}`);
  if (update.type !== 'RollingUpdate' || optIns.paused) return wrong;
  const due = new Set(wanted.slice(update.partition ?? 0));
  for (const { metadata } of own)
    if (due.has(metadata.name ?? '') && metadata.labels?.[HASH_LABEL] !== set.status?.updateRevision)
      wrong.push(`${metadata.name} is of ${metadata.labels?.[HASH_LABEL]}, and ${set.status?.updateRevision} is wanted`);
  return wrong;
}

/** Counted anew, by other means than the controller's. */
function wrongStatus(world: SimWorld, set: StatefulSet): string[] {
  const own = ownPods(world, set);
  const { status, metadata } = set;
  const of = (revision: string | undefined): number => own.filter((pod) => pod.metadata.labels?.[HASH_LABEL] === revision).length;
  const ready = own.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length;
  const wants = {
    observedGeneration: metadata.generation,
    replicas: own.length,
    readyReplicas: ready,
    // Whoever is ready has been so for long, by now.
    availableReplicas: ready,
    currentReplicas: of(status?.currentRevision),
    updatedReplicas: of(status?.updateRevision),
  };
  return Object.entries(wants).flatMap(([field, count]) => {
    const says = (status as Record<string, unknown> | undefined)?.[field] ?? 0;
    return says === count ? [] : [`${metadata.name} says ${field} ${JSON.stringify(says)}, and it is ${count}`];
  });
}

function ownPods(world: SimWorld, set: StatefulSet): Pod[] {
  return world.pods().filter((pod) => isControlledBy(pod, set));
}
