import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onNode } from '../machine.ts';
import { onlineParts, onRealNodes } from '../suite.ts';
import type { GateOff } from './scenarios/gate-off.ts';

await onRealNodes(
  'the agent on a real API server with the feature off',
  () => {
    test('says plainly that the fields do not stick, and leaves the kubelet alone', async () => {
      const seen = await onNode<GateOff>('../online/scenarios/gate-off', { registered: true });
      assert.deepEqual([seen.written, seen.node], ['[][]', '[][]'], 'this API server keeps the fields');

      const why =
        'no object can assign a configuration to this node: the API server (v1.20.2) drops Node.spec.configSource and does not serve nodeconfigs.dkc.dev; ' +
        'run: dkc deploy manifests --only=crds --kubernetes-version=1.20 | kubectl apply -f -';
      assert.deepEqual([seen.status.assignment, seen.status.error], [{ carrier: null, why }, null]);
      assert.ok(seen.people.includes(`Assignment by:   unknown (${why})\n`), seen.people);
      assert.deepEqual([...new Set(seen.warnings)], [`${why} node=node-0`]);
      assert.ok(seen.warnings.length <= 2, `said ${seen.warnings.length} times`);

      assert.equal(seen.assign.code, 3);
      assert.match(
        seen.assign.stderr,
        /^dkc: Cannot assign a ConfigMap to Node node-0: the API server dropped spec\.configSource without an error: its feature gate DynamicKubeletConfig is off/,
      );
      assert.deepEqual(seen.kubelet.after, seen.kubelet.before);
    });
  },
  onlineParts,
);
