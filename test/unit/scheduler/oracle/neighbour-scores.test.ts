import { pod } from '../builders.ts';
import { HOST, near, preferred, required, service, spread, testScore, wishing, ZONE } from './examples.ts';

/* Worked examples of what other pods give a node in points: every figure was computed by hand. examples.ts says how nodes and pods are written. */

const asks = () => pod('asks');
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
spreads(
  'nodes that have its own label, whatever label a hard rule names',
  'a zone=a disk=1, b zone=b disk=2, c zone=a',
  'web@c, web@c, web@c',
  hardAndSoft,
  'a 0, b 100',
);

// By default: pods of one service, and of one controller.
const services = [service('web')];
spreads('pods of a service by node and zone', 'a zone=1, b zone=2', 'web@a', web(), 'a 66, b 100', { services });
spreads('having no zone as a zone for their number, and as no addend', 'a zone=1, b', 'web@a', web(), 'a 44, b 100', { services });
const selector = { matchLabels: { app: 'web' } };
const replicaSets = [{ metadata: { name: 'web', namespace: 'default' }, spec: { selector } }];
spreads('pods of a controller', 'a, b', 'web@a', web().ownedBy('ReplicaSet', 'web'), 'a 80, b 100', { replicaSets });
const ownRules = web().spec({ topologySpreadConstraints: [spread(HOST, 'DoNotSchedule', { maxSkew: 9 })] });
spreads('nobody by default for a pod with rules of its own', 'a, b', 'web@a', ownRules, 'a 0, b 0', { services });
const profile = { spread: { defaults: [{ topologyKey: ZONE, maxSkew: 1 }] } };
spreads('not nodes without a label that the profile names', 'a zone=1, b', 'web@a', web(), 'a 100, b 0', { services, profile });

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
const teamB = towards('friend', HOST, { namespaceSelector: { matchLabels: { team: 'b' } } });
draws('pods of namespaces that are named or chosen by labels', 'a, b', 'other/friend@a, friend@b', teamB, 'a 100, b 0');
const ignoring = { profile: { interPod: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: true } } };
draws('nobody else when told to ignore them and the pod has no wishes', 'a, b', [liking], web(), 'a 0, b 0', ignoring);
