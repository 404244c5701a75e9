import { plannedFrom } from '../notation.ts';
import { seededRandom } from '../../../../../base/random.ts';
import { noMemory } from '../../../../../controllers/common/set-memory.ts';
import { recount } from '../../../../../controllers/daemonset/summary.ts';
import { rulesOf } from '../../../../../controllers/daemonset/rules.ts';
import type { DaemonSet } from '../../../../../controllers/common/types.ts';
import { acts } from './acts.ts';
import { Crew } from '../../../../support/simulated/crew.ts';
import { Invariants } from './invariants.ts';
import { playRandomly, type RandomRun, type Ran } from '../../../../support/simulated/play-randomly.ts';
import { SetView } from './set-view.ts';
import { SimWorld } from '../../../../support/simulated/sim-world.ts';

const MINUTE = 60_000;
/** Longer than a failed pod stays, and than anything is waited for. */
const CALM = 20 * MINUTE;
const QUIET = 10 * MINUTE;

/** A cluster with all that can happen to it; every now and then it is left alone, and must be right and silent then. Ends with the first problem. */
export async function randomRun({ seed, steps, without = new Set() }: RandomRun): Promise<Ran> {
  const dice = seededRandom(seed);
  const pace = seededRandom(seed + 1);
  const world = new SimWorld({
    seed,
    pace: { bindMs: () => pace() * 300, startMs: () => pace() * 1_500, endMs: () => pace() * 3_000 },
    api: { watchWindow: 500 },
  });
  const invariants = new Invariants(world.api, world.clock);
  const crew = new Crew(world, invariants);
  const ran: Ran = { problems: invariants.problems, steps: 0, transcript: [], checked: invariants.checked, quiet: 0 };
  const nodes = 2 + Math.floor(dice() * 11);
  world.addNodes(...Array.from({ length: nodes }, (_, n) => ({ name: `n${n}`, labels: { pool: dice() < 0.5 ? 'x' : 'y' } })));
  return playRandomly({
    run: { seed, steps, without },
    world,
    crew,
    acts,
    ran,
    sceneOf: (random) => ({ world, crew, random }),
    quiet: () => quiet(world, crew, ran.problems),
  });
}

async function quiet(world: SimWorld, crew: Crew, problems: string[]): Promise<void> {
  world.api.hooks.setFaults([]);
  crew.well();
  await world.clock.advance(CALM);
  const from = crew.calls.length;
  problems.push(...world.sets().flatMap((set) => wrongWith(world, set)));
  await world.clock.advance(QUIET);
  const calls = crew.calls.slice(from).map(({ verb, resource, key }) => `${verb} ${resource} ${key}`);
  if (calls.length > 0) problems.push(`when all is quiet there are ${calls.length} calls: ${calls.slice(0, 5).join(', ')}`);
  for (const { metadata } of world.api.hooks.storage.list('/events').objects)
    world.api.hooks.storage.remove('/events', `${metadata.namespace}/${metadata.name}`);
}

/** What is not as a controller that sees all of the server would leave it. */
function wrongWith(world: SimWorld, set: DaemonSet): string[] {
  const { name = '', deletionTimestamp } = set.metadata;
  if (deletionTimestamp !== undefined) return [];
  const now = world.clock.now();
  const rules = rulesOf(set, 'scheduler');
  const cluster = { nodes: world.nodes(), pods: world.pods(), revisions: world.revisions(), now, pendingMs: 0, memory: noMemory };
  const { adoption: claims, history, creations, deletions, truncate, status } = plannedFrom(recount(rules, cluster).facts);
  const { pods, revisions } = claims;
  const open = {
    adopt: [...pods.adopt, ...revisions.adopt],
    release: [...pods.release, ...revisions.release],
    history,
    creations: creations.map(({ node }) => node),
    deletions: deletions.map(({ node, reason }) => `${node} ${reason}`),
    truncate,
    status: status === undefined ? [] : [{ has: set.status, wants: status }],
  };
  const wrong = Object.entries(open).flatMap(([what, left]) =>
    left.length > 0 ? [`${name} is left with ${what}: ${JSON.stringify(left).slice(0, 600)}`] : [],
  );
  const view = new SetView(set, world, now);
  for (const node of world.nodes().map(({ metadata }) => metadata.name ?? '')) {
    const live = view.live(node).length;
    if (view.runs(node) && (live === 0 || live > (rules.surging ? 2 : 1))) wrong.push(`${name} has ${live} pods on ${node}`);
    if (!view.mayKeep(node) && live > 0) wrong.push(`${name} has ${live} pods on ${node}, which may keep none`);
  }
  return wrong;
}
