import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from 'kubernetes-types/core/v1.js';
import { whyNotEligible } from '../../../../scheduler/preempt/eligible.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { pod } from '../builders.ts';

const waits = 'not eligible due to a terminating pod on the nominated node.';
const preempted: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };

function other(
  priority: number,
  { going = true, condition = preempted }: { going?: boolean; condition?: PodCondition | null } = {},
): PodInfo {
  const built = pod('other').on('n').priority(priority);
  if (going) built.terminating();
  const made = built.build();
  return podInfoOf({ ...made, status: { ...made.status, ...(condition === null ? {} : { conditions: [condition] }) } });
}

const cases: { why: string; policy?: string; nominated?: { resolvable: boolean; pods: PodInfo[] }; says: string | undefined }[] = [
  { why: 'may preempt', says: undefined },
  { why: 'may preempt, and says so', policy: 'PreemptLowerPriority', says: undefined },
  { why: 'may not by its own policy', policy: 'Never', says: 'not eligible due to preemptionPolicy=Never.' },
  {
    why: 'may not by its own policy, whatever comes of its node',
    policy: 'Never',
    nominated: { resolvable: false, pods: [] },
    says: 'not eligible due to preemptionPolicy=Never.',
  },
  { why: 'waits for its victim to be gone', nominated: { resolvable: true, pods: [other(9)] }, says: waits },
  { why: 'waits for one victim among others', nominated: { resolvable: true, pods: [other(9, { going: false }), other(9)] }, says: waits },
  { why: 'may again, once its node is such that no victim helps', nominated: { resolvable: false, pods: [other(9)] }, says: undefined },
  { why: 'may again, once nobody leaves its node', nominated: { resolvable: true, pods: [other(9, { going: false })] }, says: undefined },
  { why: 'may again, once its node is gone', nominated: { resolvable: true, pods: [] }, says: undefined },
  { why: 'waits for no equal', nominated: { resolvable: true, pods: [other(10)] }, says: undefined },
  {
    why: 'waits for nobody who leaves by himself',
    nominated: { resolvable: true, pods: [other(9, { condition: null })] },
    says: undefined,
  },
  {
    why: 'waits for nobody who was evicted',
    nominated: { resolvable: true, pods: [other(9, { condition: { ...preempted, reason: 'EvictionByEvictionAPI' } })] },
    says: undefined,
  },
  {
    why: 'waits for nobody of whom it is no longer so',
    nominated: { resolvable: true, pods: [other(9, { condition: { ...preempted, status: 'False' } })] },
    says: undefined,
  },
];

for (const { why, policy, nominated, says } of cases)
  test(`a pod ${why}`, () => {
    const preemptor = podInfoOf(
      pod('p')
        .priority(10)
        .spec(policy === undefined ? {} : { preemptionPolicy: policy })
        .build(),
    );
    assert.equal(whyNotEligible({ pod: preemptor, nominated }), says);
  });
