import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { node, pod, type NodeBuilder } from '../builders.ts';
import { evaluate } from './evaluate.ts';
import { clusterOf, HOST, near, preferred, required, service, spread, testScore, wishing, ZONE } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: every figure was computed by hand. Points are before weights. examples.ts says how nodes and pods are written. */

const MIB = 1024 * 1024;
const asks = () => pod('asks');
const quiet = pod('quiet');
const quarter = pod('quarter').cpu('1').memory('2Gi');

const fits = testScore.bind(undefined, 'NodeResourcesFit');
const strategy = (type: ProfileConfig['fit']['strategy']['type'], ...points: [utilization: number, score: number][]) => {
  const shape = points.map(([utilization, score]) => ({ utilization, score }));
  return { profile: { fit: { ...plainProfile.fit, strategy: { ...plainProfile.fit.strategy, type, shape } } } };
};
fits('the mean of what is left of each resource, cut off', 'a, b cpu=2', '', quarter, 'a 75, b 62');
fits('100m and 200Mi for a container that does not say, there and here', 'a', 'x@a', quiet, 'a 95');

fits('more to fuller nodes when told so', 'a, b cpu=1', '', quarter, 'a 25, b 62', strategy('MostAllocated'));
const upAndDown = strategy('RequestedToCapacityRatio', [0, 0], [40, 80], [100, 20]);
fits('what a shape says at a whole percent', 'a', '', asks().cpu('2800m').memory('819Mi'), 'a 34', upAndDown);

const balances = testScore.bind(undefined, 'NodeResourcesBalancedAllocation');

const filled = 'fb@b cpu=2 memory=1Gi, fc@c cpu=500m memory=6Gi, fd@d cpu=3 memory=6Gi, fe@e cpu=100m memory=100Mi';
const onFilled = 'a 71, b 72, c 78, d 71, e 72';
balances('for what improves, as kube-scheduler 1.36.3 does', 'a, b, c, d, e', filled, asks().cpu('1').memory('1Gi'), onFilled);

const images = testScore.bind(undefined, 'ImageLocality');
const having = (name: string, ...of: [image: string, bytes: number][]): NodeBuilder =>
  of.reduce((built, [image, bytes]) => built.image(image, bytes), node(name));

const half: [string, number] = ['app:1', 500 * MIB];
images('less for what few nodes have', [having('a', half), node('b')], '', quiet, 'a 23, b 0');

const taints = testScore.bind(undefined, 'TaintToleration');
const more = 'a, b x:PreferNoSchedule, c x:PreferNoSchedule y:PreferNoSchedule z:PreferNoSchedule';
taints('less by each taint that is not wanted', more, '', quiet, 'a 100, b 67, c 0');
const tolerant = asks().tolerates(
  { key: 'x', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'y', operator: 'Exists' },
  { key: 'z', effect: 'PreferNoSchedule' },
);
const oneEach = 'a x:PreferNoSchedule, b y:PreferNoSchedule, c z:PreferNoSchedule';
taints('no less for what is tolerated, by tolerations of this effect or of any', oneEach, '', tolerant, 'a 0, b 100, c 100');

const affinity = testScore.bind(undefined, 'NodeAffinity');
const wish = (weight: number, key: string) => ({ weight, preference: { matchExpressions: [{ key, operator: 'Exists' }] } });
const wishes = [wish(10, 'x'), wish(30, 'y')];
const hopeful = asks().affinity({ nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wishes } });
affinity('percent of the most that any node has', 'a x=, b y=, c', '', hopeful, 'a 33, b 100, c 0');

// What other pods give a node.

const web = () => asks().labels({ app: 'web' });
const soft = (...topologyKeys: string[]) =>
  web().spec({ topologySpreadConstraints: topologyKeys.map((key) => spread(key, 'ScheduleAnyway')) });

const spreads = testScore.bind(undefined, 'PodTopologySpread');
const uneven = 'web@a, web@a, web@b, web@d, web@d, web@d';
spreads('2, 1, none and 3 on nodes as 20, 60, 100 and 0', 'a, b, c, d', uneven, soft(HOST), 'a 20, b 60, c 100, d 0');
const zones = 'a zone=1, b zone=1, c zone=2, d';
const inZones = 'web@a, web@b, web@b, web@c, web@d';
spreads('zones as wholes, and nothing where there is no zone', zones, inZones, soft(ZONE), 'a 25, b 25, c 100, d 0');
const cordoned = 'a zone=1, b zone=1 cordoned, c zone=2';
spreads('also pods of a zone on nodes where this one cannot be', cordoned, 'web@b, web@b, web@b, web@c', soft(ZONE), 'a 25, c 100');
const four = 'web@a, web@b, web@b, web@c';
const good = 'a zone=1 good=, b zone=1, c zone=2 good=';
spreads('but not on nodes that the pod did not choose', good, four, soft(ZONE).selects({ good: '' }), 'a 100, c 100');
const hardAndSoft = web().spec({
  topologySpreadConstraints: [spread('disk', 'DoNotSchedule', { maxSkew: 9 }), spread(ZONE, 'ScheduleAnyway')],
});
const racks = 'a zone=a disk=1, b zone=b disk=2, c zone=a';
spreads('nodes that have its own label, whatever a hard rule names', racks, 'web@c, web@c, web@c', hardAndSoft, 'a 0, b 100');

// By default: pods of one service, and of one controller.
const services = [service('web')];
spreads('pods of a service by node and zone', 'a zone=1, b zone=2', 'web@a', web(), 'a 66, b 100', { services });

const ofWeb = { matchLabels: { app: 'web' } };
const replicaSets = [{ metadata: { name: 'web', namespace: 'default' }, spec: { selector: ofWeb } }];
spreads('pods of a controller', 'a, b', 'web@a', web().ownedBy('ReplicaSet', 'web'), 'a 80, b 100', { replicaSets });

const draws = testScore.bind(undefined, 'InterPodAffinity');
const mixed = asks().affinity({ podAffinity: preferred(10, near('friend')), podAntiAffinity: preferred(5, near('foe')) });
draws('between the least and the most that draws', 'a, b, c', 'foe@a, friend@b', mixed, 'a 0, b 100, c 33');
const liking = wishing('x', 'a', { podAffinity: preferred(3, near('web')) });
const disliking = wishing('y', 'b', { podAntiAffinity: preferred(2, near('web')) });
const needing = wishing('z', 'c', { podAffinity: required(near('web')) });
draws('what others wish of this pod, and what they need as 1', 'a, b, c', [liking, disliking, needing], web(), 'a 100, b 0, c 60');
const towards = (...of: Parameters<typeof near>) => asks().affinity({ podAffinity: preferred(1, near(...of)) });
const twoZones = 'a zone=1, b zone=1, c zone=2';
draws('everybody in the zone, also those on their way out', twoZones, 'friend@a leaving', towards('friend', ZONE), 'a 100, b 100, c 0');

test('points are added up by their weights, and the best are all of those with the most', () => {
  const { totals, top, byPlugin } = evaluate(clusterOf('b, a, c cpu=2'), quarter.build(), plainProfile);
  assert.deepEqual(Object.fromEntries(totals), { a: 75 + 75 + 300, b: 450, c: 62 + 68 + 300 });
  assert.deepEqual(top, ['a', 'b']);
  assert.equal(byPlugin.get('TaintToleration')?.get('a'), 300);
});
