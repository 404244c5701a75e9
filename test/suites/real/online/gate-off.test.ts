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

      const why = 'Node.spec.configSource, but the API server drops its fields: DynamicKubeletConfig is off there, or it is 1.26 or newer';
      assert.deepEqual([seen.status.assignment, seen.status.error], [{ carrier: 'node', why }, null]);
      assert.ok(seen.people.includes(`Assignment by:   node (${why})\n`), seen.people);
      const line =
        'the API server accepted the status but dropped its fields: its DynamicKubeletConfig gate is off, or it is 1.26 or newer carrier=node';
      assert.deepEqual([...new Set(seen.warnings)], [line]);
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
