import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { InstallationResult } from './scenarios/installation.ts';
import { agents, machines } from './suite.ts';

await machines('installation', () => {
  for (const agent of agents) {
    test(`${agent}: systemd understands every line, and the sandbox is tight`, async (t) => {
      const seen = await onMachine<InstallationResult>('installation', { agent });
      t.diagnostic(`systemd ${seen.systemd}, exposure ${seen.exposure}`);
      assert.ok(seen.exposure <= 2, `exposure ${seen.exposure}`);
      assert.deepEqual(seen.complaints, []);
      assert.deepEqual(seen.tmpfiles, ['700 root /run/dkc', '700 root /var/lib/dkc', '700 root /etc/dkc']);
      assert.notEqual(seen.status, '', 'no STATUS= arrived');
    });
  }
});
