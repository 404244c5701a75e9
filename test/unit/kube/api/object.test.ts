import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInKinds, Registry } from '../../../../apiserver/kinds/registry.ts';
import type { Resource } from '../../../../kube/api/object.ts';
import * as objects from '../../../../kube/api/object.ts';

// Upstream's current release; every version named here is served by it.
const registry = new Registry(builtInKinds, 34);

const isResource = (value: unknown): value is Resource => typeof value === 'object' && value !== null && 'resource' in value;

/** Kinds that are read only where a server has them, and that this one has not. */
const elsewhere: Record<string, string> = {
  csiStorageCapacities: 'the embedded server has no storage drivers',
  deviceClasses: 'the embedded server has no devices',
  podDisruptionBudgetsBeta: 'gone since 1.25',
};

for (const [constant, resource] of Object.entries<unknown>(objects)) {
  if (!isResource(resource)) continue;
  const why = elsewhere[constant];
  if (why !== undefined) {
    test(`${constant} is a kind of other servers: ${why}`, () =>
      assert.equal(registry.find(resource.group, resource.version, resource.resource), undefined));
    continue;
  }
  test(`${constant} is a kind as the server has it`, () => {
    const served = registry.find(resource.group, resource.version, resource.resource);
    assert.ok(served, 'nobody serves it');
    assert.deepEqual([resource.kind, resource.namespaced], [served.kind.kind, served.kind.namespaced]);
  });
}
