import { node } from '../builders.ts';
import { row, table } from './filter-table.ts';
import { claim, csiCapacity, csiDriver, podWith, storageClass, volume, type World } from './storage-builders.ts';

const AFFINITY = 'VolumeBinding!: node(s) had volume node affinity conflict';
const NONE = "VolumeBinding!: node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'VolumeBinding!: node(s) did not have enough free storage';
const GONE = 'VolumeBinding!: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const ZONE = 'VolumeZone!: node(s) had no available volume zone';

const bound = (of: ReturnType<typeof volume>): World => ({ claims: [claim('data').to('pv')], volumes: [of] });
const byName = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-b'] }] };
const on = (key: string, value: string) => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });

table('a volume that is there:', [
  row('is on another machine', AFFINITY, { ...bound(volume('pv').local('node-b')) }),
  row('is gone', GONE, { disabled: ['VolumeZone'], claims: [claim('data').to('pv')] }),
  row('is tied to the name of a node, which nobody reads of a volume', 'ok', { ...bound(volume('pv').reachedBy(byName)) }),
]);

const late = { classes: [storageClass('late')], claims: [claim('data').class('late').asks('2Gi')] };
const fitting = (name: string) => volume(name).class('late').size('2Gi');
const finds = (...volumes: ReturnType<typeof volume>[]) => ({ ...late, volumes });

const either = fitting('x').reachedBy(on('kubernetes.io/hostname', 'node-b'), on('topology.kubernetes.io/zone', 'z'));
const gold = fitting('y').labels({ tier: 'gold' });
const selecting = (selector: object) => claim('data').class('late').spec({ selector });
table('a volume to be found:', [
  row('there is none', NONE, { ...late }),
  row('too small', NONE, { ...late, volumes: [fitting('pv').size('2047Mi')] }),
  row(
    'the smallest that is large enough',
    'ok data=y',
    finds(fitting('x').size('9Gi'), fitting('y').size('3Gi'), fitting('z').size('1Gi')),
  ),
  row('among equals by name', 'ok data=x', { ...late, volumes: [fitting('y'), fitting('x')] }),
  row('a block device for a directory', NONE, { ...late, volumes: [fitting('pv').spec({ volumeMode: 'Block' })] }),
  row('reserved for another claim', NONE, { ...late, volumes: [fitting('pv').for('other')] }),
  row('reserved for this claim, before smaller ones', 'ok data=y', finds(fitting('x'), fitting('y').size('9Gi').for('data'))),
  row('on another machine or in this zone', 'ok data=x', { ...finds(either), node: node('node-a').zone('z') }),
  row('each claim its own, the small one first', 'ok small=y big=x', {
    classes: [storageClass('late')],
    claims: [claim('big').class('late').asks('2Gi'), claim('small').class('late').asks('1Gi')],
    pod: podWith('p', 'big', 'small'),
    volumes: [fitting('x').size('3Gi'), fitting('y').size('2Gi')],
  }),
  row('one for two claims', NONE, {
    classes: [storageClass('late')],
    claims: [claim('one').class('late'), claim('two').class('late')],
    pod: podWith('p', 'one', 'two'),
    volumes: [fitting('x')],
  }),
  row('selected by labels', 'ok data=y', { ...finds(fitting('x'), gold), claims: [selecting({ matchLabels: { tier: 'gold' } })] }),
]);

const made = { ...late, classes: [storageClass('late', { provisioner: 'driver' })] };
const allowing = (...zones: string[][]) => [
  storageClass('late', {
    provisioner: 'driver',
    allowedTopologies: zones.map((values) => ({ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values }] })),
  }),
];
const chosen = claim('data').class('late').madeFor('node-a');
table('a volume to be made:', [
  row('only where none is found', 'ok data=pv', { ...made, volumes: [fitting('pv')] }),
  row('where the class does not allow it', NONE, { ...made, classes: allowing(['x'], ['y']), node: node('node-a').zone('z') }),
  row('it is being made for another node', NONE, { ...made, claims: [claim('data').class('late').madeFor('node-b')] }),
  row('it is being made, so that none is looked for', 'ok data@node-a', { ...made, claims: [chosen], volumes: [fitting('pv')] }),
]);

const counted = { ...made, drivers: [csiDriver('driver', true)] };
const near = (zone: string) => ({ nodeTopology: { matchLabels: { 'topology.kubernetes.io/zone': zone } } });
const inZone = (where: Parameters<typeof csiCapacity>[1], capacity: string) => ({
  ...counted,
  node: node('node-a').zone('a'),
  capacities: [csiCapacity('late', { ...where, capacity })],
});
table('space for a volume to be made:', [
  row('the driver has told nothing yet', NO_SPACE, { ...counted }),
  row('enough near the node', 'ok data@node-a', inZone(near('a'), '2Gi')),
  row('enough elsewhere', NO_SPACE, inZone(near('b'), '9Gi')),
  row('enough, but not in one piece', NO_SPACE, inZone({ maximumVolumeSize: '1Gi', nodeTopology: {} }, '9Gi')),
]);

const BETA = 'failure-domain.beta.kubernetes.io/zone';
const GA = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const zoned = (labels: Record<string, string>) => bound(volume('pv').labels(labels));
table('the zone of a volume:', [
  row('is none of several', ZONE, { ...zoned({ [GA]: 'a__b' }), node: node('n').zone('ab') }),
  row('has its old name on both', ZONE, { ...zoned({ [BETA]: 'a' }), node: node('n').labels({ [BETA]: 'b' }) }),
  row('a node with a region alone', ZONE, { ...zoned({ [GA]: 'a' }), node: node('n').labels({ [REGION]: 'r' }) }),
]);
