import { daemonSets } from '../../kube/api/object.ts';
import type { Calls } from './calls.ts';
import { callsText } from './calls.ts';
import { stretch } from './cost.ts';
import type { Stretch } from './cost.ts';
import { quiet } from './events.ts';
import { addNamespace, daemonSet, emptied, labels, mustHavePods, newTemplate, removeSet, whenDone } from './fleet.ts';
import type { Usage } from './proc.ts';
import type { Site, User } from './site.ts';
import { startController } from './subject.ts';
import type { Subject } from '../subject.ts';

/** Costs of one part of the work for a subject. */
export interface Part extends Stretch {
  /** Time until the status reported that all is done; `wallMs`, the period of the CPU time, lasts until the subject is idle. */
  doneMs: number;
  calls: Calls;
}

export interface Turn {
  user: User;
  /** The first set of the process: on the nodes that have the label `some`. */
  first: Part;
  create: Part;
  update: Part;
  /** Usage at the end. */
  usage: Usage;
}

/**
 * One subject's turn: a set on some nodes is created, measured as the first burst of a process, and updated, which warms up the code; then a set for all nodes
 * is measured. Everything is deleted afterwards.
 * @param counts - numbers of nodes: all, and those with the label `some`
 */
export async function takeTurn(user: User, site: Site, counts: { all: number; some: number }, namespace: string): Promise<Turn> {
  const { client } = site;
  await using subject = await startController(user, site);
  await addNamespace(client, namespace);
  const goal = { namespace, name: 'warm-up', nodes: counts.some, ready: true };
  await quiet(subject);
  const first = await measured(subject, site, async () => {
    await client.create(daemonSets, daemonSet(namespace, goal.name, labels.some));
    await whenDone(client, goal);
  });
  await client.patch(daemonSets, goal, newTemplate('v1.0.1'), { type: 'strategic' });
  await whenDone(client, { ...goal, generation: 2 });
  await removeSet(client, namespace, goal.name);
  await emptied(client, namespace);
  await quiet(subject);

  const set = { namespace, name: 'measured', nodes: counts.all, ready: true };
  const create = await measured(subject, site, async () => {
    await client.create(daemonSets, daemonSet(namespace, set.name, labels.all));
    await whenDone(client, set);
  });
  await mustHavePods(client, namespace, counts.all);
  const update = await measured(subject, site, async () => {
    await client.patch(daemonSets, set, newTemplate('v1.0.1'), { type: 'strategic' });
    await whenDone(client, { ...set, generation: 2 });
  });
  await mustHavePods(client, namespace, counts.all);
  const usage = subject.usage();
  await removeSet(client, namespace, set.name);
  for (const [what, part] of Object.entries({ first, create, update })) {
    console.error(`  ${user}, ${what}: ${(part.doneMs / 1_000).toFixed(2)} s, CPU ${part.cpuMs} ms, ${callsText(part.calls)}`);
  }
  console.error(`  ${user}: ${usage.rssMb.toFixed(0)} MB`);
  return { user, first, create, update, usage };
}

/** Runs `work`, waits until the subject is idle again. @returns the costs of both for the subject */
export async function measured(subject: Subject<User>, site: Site, work: () => Promise<void>): Promise<Part> {
  const { usage, user } = subject;
  const { mark } = site;
  const from = { usage: usage(), atMs: performance.now() };
  await work();
  const doneMs = performance.now() - from.atMs;
  await quiet(subject);
  const cost = stretch(from, { usage: usage(), atMs: performance.now() });
  return { ...cost, doneMs, calls: await site.callsSince(mark, user) };
}
