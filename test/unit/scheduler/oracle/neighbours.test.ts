import { pod } from '../builders.ts';
import { HOST, near, required, spread, testFilter, wishing, ZONE } from './examples.ts';

/* Worked examples: which nodes may have a pod, as far as other pods are concerned. examples.ts says how nodes and pods are written. */

type Rule = Parameters<typeof spread>[2];
const asks = () => pod('asks');
const web = () => asks().labels({ app: 'web' });
const hard = (...rules: ReturnType<typeof spread>[]) => web().spec({ topologySpreadConstraints: rules });
const by = (topologyKey: string, more?: Rule) => spread(topologyKey, 'DoNotSchedule', more);

const FITS = 'fits';
const AFFINITY = "never: node(s) didn't match Pod's node affinity/selector";
const TAINTED = 'never: node(s) had untolerated taint {x: }';
const SKEW = "now: node(s) didn't match pod topology spread constraints";
const NO_LABEL = "never: node(s) didn't match pod topology spread constraints (missing required label)";
const ALONE = "never: node(s) didn't match pod affinity rules";
const ANTI = "now: node(s) didn't match pod anti-affinity rules";
const OBJECTION = "now: node(s) didn't satisfy existing pods anti-affinity rules";

// Spreading.
const zones = 'a zone=1, b zone=2, c';
testFilter('how far domains may be apart, the pod itself included', zones, 'web@a, web@a, web@b', hard(by(ZONE)), [SKEW, FITS, NO_LABEL]);
testFilter('an empty domain where there are too few', 'a zone=1, b zone=2', 'web@a, web@b', hard(by(ZONE, { minDomains: 3 })), [
  SKEW,
  SKEW,
]);
const chosen = 'a zone=1 good=, b zone=2, c zone=3 good=';
const choosing = (more?: Rule) => hard(by(ZONE, more)).selects({ good: '' });
testFilter('only nodes that the pod chose', chosen, 'web@a, web@c', choosing(), [FITS, AFFINITY, FITS]);
testFilter('also other nodes when told so', chosen, 'web@a, web@c', choosing({ nodeAffinityPolicy: 'Ignore' }), [SKEW, AFFINITY, SKEW]);
const tainted = 'a, b x:NoSchedule';
testFilter('tainted nodes, or not when told so', tainted, 'web@a', hard(by(HOST, { nodeTaintsPolicy: 'Honor' })), [FITS, TAINTED]);
const racks = 'a zone=1 rack=1, b zone=2 rack=2, c zone=3';
const both = hard(by(ZONE), by('rack'));
testFilter('only nodes with the labels of all rules, and the first rule that is broken', racks, 'web@a, web@b', both, [
  FITS,
  FITS,
  NO_LABEL,
]);
const ofRevision = hard(by(HOST, { matchLabelKeys: ['rev', 'none'] })).labels({ rev: '2' });
testFilter('only pods of the same revision when told so', 'a, b', 'web@a rev=1', ofRevision, [FITS, FITS]);

// Other pods.
const beside = (...terms: Parameters<typeof required>) => ({ podAffinity: required(...terms) });
const awayFrom = (...terms: Parameters<typeof required>) => ({ podAntiAffinity: required(...terms) });
const withDb = asks().affinity(beside(near('db', ZONE)));
testFilter('friends in the zone, also those on their way out', 'a zone=1, b zone=1, c zone=2, d', 'db@a leaving', withDb, [
  FITS,
  FITS,
  ALONE,
  ALONE,
]);
const twoTerms = asks().affinity(beside(near('db'), { topologyKey: HOST, labelSelector: { matchLabels: { tier: 'x' } } }));
testFilter('that one friend must satisfy all terms', 'a, b', 'db@a, y@a tier=x, db@b tier=x', twoTerms, [ALONE, FITS]);
const ownKind = () => web().affinity(beside(near('web', ZONE)));
testFilter('that the first of a group goes anywhere with the label', 'a zone=1, b', '', ownKind(), [FITS, ALONE]);
testFilter('no friends outside of all domains: the second is the first then', 'a zone=1, c', 'web@c', ownKind(), [FITS, ALONE]);
const noWeb = asks().affinity(awayFrom(near('web', ZONE)));
testFilter('foes in the zone; nodes without a zone have none', 'a zone=1, b zone=1, c', 'web@a, web@c', noWeb, [ANTI, ANTI, FITS]);
const objecting = [
  wishing('x', 'a', awayFrom(near('web'))),
  wishing('other/y', 'b', awayFrom(near('web'))),
  wishing('other/z', 'c', awayFrom(near('web', HOST, { namespaces: ['default'] }))),
];
testFilter('who does not want this pod, of own namespace where no other is said', 'a, b, c', objecting, web(), [
  OBJECTION,
  FITS,
  OBJECTION,
]);
const anywhere = asks().affinity(awayFrom(near('web', HOST, { namespaceSelector: {} }), { topologyKey: HOST }));
testFilter(
  'pods of all namespaces for an empty selector of namespaces, no pods without a selector of pods',
  'a, b',
  'other/web@a',
  anywhere,
  [ANTI, FITS],
);
