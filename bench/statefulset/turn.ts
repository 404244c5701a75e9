import { callsText } from '../daemonset/calls.ts';
import { quiet } from '../daemonset/events.ts';
import { addNamespace, mustHavePods } from '../daemonset/fleet.ts';
import type { Usage } from '../daemonset/proc.ts';
import type { Site, User } from '../daemonset/site.ts';
import { startController } from '../daemonset/subject.ts';
import type { Work } from '../daemonset/subject.ts';
import type { Subject } from '../subject.ts';
import { measured } from '../daemonset/turn.ts';
import type { Part } from '../daemonset/turn.ts';
import { deleteSets, makeSets, updateSets } from './sets.ts';
import { podsOf, shapeText } from './state.ts';
import type { Shape } from './state.ts';

export const partNames = ['create', 'update', 'remove'] as const;
export type Parts = Record<(typeof partNames)[number], Part>;

export interface Turn {
  user: User;
  /** Costs of a fifth of the first shape, for a process that has just started. */
  first: Part;
  /** Costs per shape, in order. */
  parts: readonly Parts[];
  /** Usage at the end. */
  usage: Usage;
}

const work: Work = { controller: 'statefulset', workers: 5, workersFlag: '--concurrent-statefulset-syncs' };

/**
 * One subject's turn: a few sets are created, updated and deleted, to warm up code and connections; then each shape is
 * measured the same way. Only empty namespaces are left.
 */
export async function takeTurn(user: User, site: Site, shapes: readonly Shape[], name: string): Promise<Turn> {
  await using subject = await startController(user, site, work);
  const warmUps: Parts[] = [];
  for (const [n, shape] of shapes.entries()) warmUps.push(await lifeOf(firstOf(shape), site, subject, `${name}-warm-up-${n}`));
  const first = warmUps[0]?.create;
  if (first === undefined) throw new RangeError('there is no shape to measure');
  console.error(`  ${user}, first burst: ${(first.doneMs / 1_000).toFixed(2)} s, CPU ${first.cpuMs} ms, ${callsText(first.calls)}`);
  const parts: Parts[] = [];
  for (const [n, shape] of shapes.entries()) {
    const life = await lifeOf(shape, site, subject, `${name}-measured-${n}`);
    parts.push(life);
    for (const what of partNames) {
      const { doneMs, cpuMs, calls } = life[what];
      const said = `${(doneMs / 1_000).toFixed(2)} s, CPU ${cpuMs} ms, ${callsText(calls)}`;
      console.error(`  ${user}, ${shapeText(shape)}, ${what}: ${said}`);
    }
  }
  const usage = subject.usage();
  console.error(`  ${user}: ${usage.rssMb.toFixed(0)} MB`);
  return { user, first, parts, usage };
}

/** The shape for the warm-up. */
export function firstOf(shape: Shape): Shape {
  return { ...shape, sets: Math.ceil(shape.sets / 5), replicas: Math.min(10, shape.replicas) };
}

async function lifeOf(shape: Shape, site: Site, subject: Subject<User>, namespace: string): Promise<Parts> {
  const { client } = site;
  await addNamespace(client, namespace);
  await quiet(subject);
  const create = await measured(subject, site, () => makeSets(client, namespace, shape));
  await mustHavePods(client, namespace, podsOf(shape));
  const update = await measured(subject, site, () => updateSets(client, namespace, shape));
  await mustHavePods(client, namespace, podsOf(shape));
  const remove = await measured(subject, site, () => deleteSets(client, namespace, shape));
  await mustHavePods(client, namespace, 0);
  return { create, update, remove };
}
