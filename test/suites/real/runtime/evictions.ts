import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { podDisruptionBudgets, pods } from '../../../../kube/api/resources.ts';
import type { RuntimeWorld } from './world.ts';

const budgets: Resource = { ...podDisruptionBudgets, version: 'v1beta1' };

/** A budget of disruptions. */
export function evictionsStory(world: RuntimeWorld): void {
  test('an eviction is refused while the budget has nothing left, and taken once it has', async () => {
    const { admin } = world;
    const namespace = await world.inNamespace('evictions');
    const ref = { name: 'web', namespace };
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'c', image: 'example/image' }], automountServiceAccountToken: false, nodeName: 'nowhere' };
    await admin.create<KubeObject>(pods, { metadata: { ...ref, labels }, spec });
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await admin.patch(pods, ref, running, { type: 'merge', subresource: 'status' });
    await admin.create<KubeObject>(budgets, { metadata: ref, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
    const allow = (disruptionsAllowed: number, currentHealthy: number): Promise<KubeObject> => {
      const status = { observedGeneration: 1, disruptionsAllowed, currentHealthy, desiredHealthy: 1, expectedPods: 2 };
      return admin.patch(budgets, ref, { status }, { type: 'merge', subresource: 'status' });
    };
    const evict = (): Promise<unknown> => {
      const body = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: ref, deleteOptions: { gracePeriodSeconds: 0 } };
      return world.clientOf().post(pods, ref, 'eviction', body);
    };
    await allow(0, 1);
    const message = 'The disruption budget web needs 1 healthy pods and has 1 currently';
    await assert.rejects(evict(), {
      code: 429,
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget', message }] },
    });
    assert.equal((await admin.get<KubeObject>(pods, ref)).metadata.deletionTimestamp, undefined);
    await allow(1, 2);
    const { status } = (await evict()) as { status: string };
    assert.equal(status, 'Success');
    await assert.rejects(admin.get(pods, ref), { code: 404 });
  });
}
