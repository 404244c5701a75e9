import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unsyncedDisk } from '../helpers/unsynced-disk.ts';
import { memoryLocks } from '../helpers/memory-locks.ts';
import { nodeOnDisk } from '../helpers/node-on-disk.ts';
import { bootOnce } from '../../agent/agent.ts';
import { agentDefaults } from '../../agent/options.ts';
import type { AgentWorld } from '../../agent/world.ts';
import { silentLog } from '../../base/log.ts';
import { realClock } from '../../base/clock.ts';

test('a single boot leaves word of what it chose, whatever an agent wrote before', async (t) => {
  const node = await nodeOnDisk(t);
  const trusted = await node.save('1');
  const assigned = await node.save('2', { files: { kubelet: 'kind: Nonsense' } });
  await node.trust(trusted);
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  // All that a boot asks of its world.
  const world = { disk: unsyncedDisk, locks: memoryLocks(), clock: realClock, log: silentLog } as unknown as AgentWorld;
  const options = {
    ...agentDefaults,
    nodeName: 'node-a',
    dynamicConfigDir: node.root,
    localConfig: node.localConfig,
    effectiveConfig: node.paths.effective,
    kubeletUnit: '',
    kubeletVersion: '1.30',
    policy: 'none',
  };
  const outcome = await bootOnce(options, world);
  const { active, effective } = await node.observe();
  assert.ok(active?.ok);
  const { used, source, error, effectiveSha256 } = active.record;
  assert.deepEqual([used, source, error], ['last-known-good', trusted, outcome.error]);
  assert.equal(effectiveSha256, effective.sha256);
});
