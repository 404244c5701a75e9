import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluatePredicates } from '../../../../../controllers/daemonset/placement/three-values.ts';
import type { Failure } from '../../../../../controllers/daemonset/placement/simulate.ts';

const cpu: Failure = { failed: 'resource', resource: 'cpu', requested: 2n, used: 3n, capacity: 4n };
const memory: Failure = { ...cpu, resource: 'memory' };
const disk: Failure = { failed: 'disk-conflict' };
const evicting: Failure = { failed: 'taints', evicts: true };
const refusing: Failure = { failed: 'taints', evicts: false };
const port: Failure = { failed: 'host-ports' };
const odd: Failure = { failed: 'other', says: 'the moon is full' };

const lacksCpu = "Node didn't have enough resource: cpu, requested: 2, used: 3, capacity: 4";
const lacksMemory = "Node didn't have enough resource: memory, requested: 2, used: 3, capacity: 4";
const noDisk = 'node(s) had no available disk';
const unexpected = (what: string) => `unexpected reason: DaemonSet Predicates should not return reason ${what}`;

/** `values` says want, schedule, keep. */
const cases: { why: string; failures: Failure[]; values: string; events?: string[]; error?: string }[] = [
  { why: 'nothing fails', failures: [], values: 'yes yes yes' },

  { why: 'the selector does not match', failures: [{ failed: 'node-selector' }], values: 'no no no' },
  { why: 'the host name does not match', failures: [{ failed: 'host-name' }], values: 'no no no' },
  { why: 'labels are not as the scheduler wants them', failures: [{ failed: 'label-presence' }], values: 'no no no' },
  { why: 'a port is taken', failures: [port], values: 'no no no' },
  { why: 'a taint evicts', failures: [evicting], values: 'no no no' },
  { why: 'a taint refuses', failures: [refusing], values: 'no no yes' },
  { why: 'a disk is in use', failures: [disk], values: 'yes no yes', events: [noDisk] },
  {
    why: 'a volume is in another zone',
    failures: [{ failed: 'volume-zone' }],
    values: 'yes no yes',
    events: ['node(s) had no available volume zone'],
  },
  {
    why: 'there are too many volumes',
    failures: [{ failed: 'volume-count' }],
    values: 'yes no yes',
    events: ['node(s) exceed max volume count'],
  },
  { why: 'memory is short', failures: [{ failed: 'memory-pressure' }], values: 'yes no yes', events: ['node(s) had memory pressure'] },
  { why: 'the disk is full', failures: [{ failed: 'disk-pressure' }], values: 'yes no yes', events: ['node(s) had disk pressure'] },
  { why: 'there is no room', failures: [cpu], values: 'yes no yes', events: [lacksCpu] },
  {
    why: 'the affinity of pods is asked',
    failures: [{ failed: 'pod-affinity' }],
    values: 'no no no',
    error: unexpected("node(s) didn't match pod affinity/anti-affinity"),
  },
  {
    why: 'the affinity of services is asked',
    failures: [{ failed: 'service-affinity' }],
    values: 'no no no',
    error: unexpected("node(s) didn't match service affinity"),
  },
  { why: 'anything else fails', failures: [odd], values: 'no no no', events: ['the moon is full'] },

  { why: 'two resources are short', failures: [cpu, memory], values: 'yes no yes', events: [lacksMemory] },
  { why: 'room is short and a taint refuses', failures: [cpu, refusing], values: 'no no yes' },
  { why: 'a taint refuses and room is short', failures: [refusing, cpu], values: 'no no yes' },
  { why: 'room is short and a taint evicts', failures: [cpu, evicting], values: 'no no no' },
  { why: 'room is short and a port is taken', failures: [cpu, port], values: 'no no no' },
  { why: 'room is short and a disk is in use', failures: [cpu, disk], values: 'yes no yes', events: [noDisk] },
  { why: 'room is short and anything else fails', failures: [cpu, odd], values: 'no no no', events: ['the moon is full'] },
  { why: 'a taint refuses and a disk is in use', failures: [refusing, disk], values: 'no no yes', events: [noDisk] },
  { why: 'a taint refuses and a port is taken', failures: [refusing, port], values: 'no no no' },
  { why: 'a disk is in use and a port is taken', failures: [disk, port], values: 'no no no', events: [noDisk] },
  { why: 'a port is taken and a disk is in use', failures: [port, disk], values: 'no no no' },
  { why: 'a taint evicts and a disk is in use', failures: [evicting, disk], values: 'no no no' },
  { why: 'anything else fails and a disk is in use', failures: [odd, disk], values: 'no no no', events: ['the moon is full', noDisk] },
  {
    why: 'a disk is in use and the affinity of pods is asked',
    failures: [disk, { failed: 'pod-affinity' }, odd],
    values: 'no no no',
    events: [noDisk],
    error: unexpected("node(s) didn't match pod affinity/anti-affinity"),
  },
];
for (const { why, failures, values, events = [], error } of cases) {
  test(`where ${why}: ${values}`, () => {
    const [want, schedule, keep] = values.split(' ').map((value) => value === 'yes');
    assert.deepEqual(evaluatePredicates(failures), {
      want,
      schedule,
      keep,
      failedPlacement: events,
      ...(error !== undefined && { error }),
    });
  });
}
