import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluatePredicates } from '../../../../../controllers/daemonset/placement/three-values.ts';
import type { Failure } from '../../../../../controllers/daemonset/placement/simulate.ts';
import { table } from '../../../../support/table.ts';

const short = { failed: 'resource', requested: 2n, used: 3n, capacity: 4n } as const;
const known: Readonly<Record<string, Failure>> = {
  cpu: { ...short, resource: 'cpu' },
  memory: { ...short, resource: 'memory' },
  disk: { failed: 'disk-conflict' },
  evicting: { failed: 'taints', evicts: true },
  refusing: { failed: 'taints', evicts: false },
  port: { failed: 'host-ports' },
  odd: { failed: 'other', says: 'the moon is full' },
};
const lacks: Readonly<Record<string, string>> = {
  'lacks cpu': "Node didn't have enough resource: cpu, requested: 2, used: 3, capacity: 4",
  'lacks memory': "Node didn't have enough resource: memory, requested: 2, used: 3, capacity: 4",
};

/** What fails, whether the node is wanted, scheduled to and kept, what is told, and what is unexpected. */
const cases = table('failures | values | told | unexpected | why')(`
  none            | yes yes yes |                                                 |  | nothing fails
  node-selector   | no no no    |                                                 |  | the selector does not match
  host-name       | no no no    |                                                 |  | the host name does not match
  label-presence  | no no no    |                                                 |  | labels are not as the scheduler wants them
  port            | no no no    |                                                 |  | a port is taken
  evicting        | no no no    |                                                 |  | a taint evicts
  refusing        | no no yes   |                                                 |  | a taint refuses
  disk            | yes no yes  | node(s) had no available disk                   |  | a disk is in use
  volume-zone     | yes no yes  | node(s) had no available volume zone            |  | a volume is in another zone
  volume-count    | yes no yes  | node(s) exceed max volume count                 |  | there are too many volumes
  memory-pressure | yes no yes  | node(s) had memory pressure                     |  | memory is short
  disk-pressure   | yes no yes  | node(s) had disk pressure                       |  | the disk is full
  cpu             | yes no yes  | lacks cpu                                       |  | there is no room
  pod-affinity | no no no | | node(s) didn't match pod affinity/anti-affinity | the affinity of pods is asked
  service-affinity | no no no | | node(s) didn't match service affinity | the affinity of services is asked
  odd             | no no no    | the moon is full                                |  | anything else fails
  cpu memory      | yes no yes  | lacks memory                                    |  | two resources are short
  cpu refusing    | no no yes   |                                                 |  | room is short and a taint refuses
  refusing cpu    | no no yes   |                                                 |  | a taint refuses and room is short
  cpu evicting    | no no no    |                                                 |  | room is short and a taint evicts
  cpu port        | no no no    |                                                 |  | room is short and a port is taken
  cpu disk        | yes no yes  | node(s) had no available disk                   |  | room is short and a disk is in use
  cpu odd         | no no no    | the moon is full                                |  | room is short and anything else fails
  refusing disk   | no no yes   | node(s) had no available disk                   |  | a taint refuses and a disk is in use
  refusing port   | no no no    |                                                 |  | a taint refuses and a port is taken
  disk port       | no no no    | node(s) had no available disk                   |  | a disk is in use and a port is taken
  port disk       | no no no    |                                                 |  | a port is taken and a disk is in use
  evicting disk   | no no no    |                                                 |  | a taint evicts and a disk is in use
  odd disk        | no no no    | the moon is full; node(s) had no available disk |  | anything else fails and a disk is in use
  disk pod-affinity odd | no no no | node(s) had no available disk | node(s) didn't match pod affinity/anti-affinity
    | a disk is in use and the affinity of pods is asked
`);
for (const { failures, values, told, unexpected, why } of cases)
  test(`where ${why}: ${values}`, () => {
    const [want, schedule, keep] = values.split(' ').map((value) => value === 'yes');
    const failed = failures
      .split(' ')
      .filter((what) => what !== 'none')
      .map((what) => known[what] ?? ({ failed: what } as Failure));
    const failedPlacement = told
      .split('; ')
      .filter(Boolean)
      .map((what) => lacks[what] ?? what);
    const error = unexpected === '' ? {} : { error: `unexpected reason: DaemonSet Predicates should not return reason ${unexpected}` };
    assert.deepEqual(evaluatePredicates(failed), { want, schedule, keep, failedPlacement, ...error });
  });
