import type { Budget } from '../../../../scheduler/types.ts';

/** A PodDisruptionBudget. @param counted - names of pods whose disruption the server has counted already */
export const budget = (name: string, disruptionsAllowed: number, selector: object | undefined, counted: string[] = []): Budget => ({
  metadata: { name, namespace: 'default' },
  spec: { maxUnavailable: 1, ...(selector === undefined ? {} : { selector }) },
  status: {
    disruptionsAllowed,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
    disruptedPods: Object.fromEntries(counted.map((pod) => [pod, '2026-01-01T18:00:00Z'])),
  },
});
