import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { scoreWeights } from '../../../../scheduler/plugins/names.ts';
import { evaluate } from './evaluate.ts';
import { applied, randomCluster, randomEvent, randomPod } from './generate.ts';
import { preempt } from './preempt.ts';
import { plainProfile } from './profile.ts';

const STEPS = 1000;

/** What must come up, and in how many of a hundred steps at the least. */
const wanted: Readonly<Record<string, number>> = {
  'no node': 8,
  'one node': 3,
  'several nodes': 40,
  'several best': 3,
  'one best': 30,
  'a promise decides': 1,
  preemption: 2,
  'a budget is broken': 0.5,
  'several victims': 1,
  'not eligible due to preemptionPolicy=Never.': 0.2,
  'not eligible due to a terminating pod on the nominated node.': 0.1,
  'node(s) were unschedulable': 10,
  'node(s) had untolerated taint': 10,
  "node(s) didn't match Pod's node affinity/selector": 5,
  "node(s) didn't satisfy plugin(s) [NodeAffinity]": 0.5,
  "node(s) didn't have free ports for the requested pod ports": 2,
  'Too many pods': 5,
  'Insufficient cpu': 10,
  'Insufficient memory': 5,
  'Insufficient ephemeral-storage': 0.3,
  'Insufficient example.com/gpu': 2,
  'Insufficient hugepages-2Mi': 1,
  "node(s) didn't match pod topology spread constraints": 1,
  "node(s) didn't match pod topology spread constraints (missing required label)": 1,
  "node(s) didn't match pod affinity rules": 2,
  "node(s) didn't match pod anti-affinity rules": 1,
  "node(s) didn't satisfy existing pods anti-affinity rules": 3,
  // There are no volumes in these clusters.
  ...Object.fromEntries(Object.keys(scoreWeights).flatMap((name) => (name === 'VolumeBinding' ? [] : [[`${name} differs`, 3]]))),
};

test('random clusters and events bring up every rule often enough', (t) => {
  const tally = new Map<string, number>();
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const random = seededRandom(1);
  let cluster = randomCluster(random, 8);
  for (let step = 0; step < STEPS; step++) {
    if (step % 25 === 0) cluster = randomCluster(random, step % 50 === 0 ? 6 : 14);
    const event = randomEvent(random, cluster);
    count(event.do);
    cluster = applied(cluster, event);
    const pod = randomPod(random, cluster);
    const { feasible, top, reasons, byPlugin } = evaluate(cluster, pod, plainProfile);
    count(feasible.length === 0 ? 'no node' : feasible.length === 1 ? 'one node' : 'several nodes');
    if (feasible.length > 1) count(top.length > 1 ? 'several best' : 'one best');
    for (const kind of new Set([...reasons.keys()].map((reason) => reason.replace(/ \{.*\}/, '')))) count(kind);
    for (const [name, points] of byPlugin) if (new Set(points.values()).size > 1) count(`${name} differs`);
    if (cluster.nominated.length > 0 && evaluate({ ...cluster, nominated: [] }, pod, plainProfile).feasible.length > feasible.length)
      count('a promise decides');
    if (feasible.length > 0) continue;
    const { candidates, message } = preempt(cluster, pod, plainProfile, { now: '2026-02-01T00:00:00Z' });
    if (candidates.length > 0) count('preemption');
    if (message.startsWith('not eligible')) count(message);
    if (candidates.some(({ violations }) => violations > 0)) count('a budget is broken');
    if (candidates.some(({ victims }) => victims.length > 1)) count('several victims');
  }
  for (const [what, steps] of [...tally].toSorted(([, a], [, b]) => b - a)) t.diagnostic(`${((100 * steps) / STEPS).toFixed(1)} % ${what}`);
  const rare = Object.entries(wanted).filter(([what, percent]) => ((tally.get(what) ?? 0) * 100) / STEPS < percent);
  assert.deepEqual(rare, []);
});
