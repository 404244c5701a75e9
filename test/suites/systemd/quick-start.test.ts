import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { onMachine } from './machine.ts';
import type { QuickStartResult } from './scenarios/quick-start.ts';
import { machines } from './suite.ts';

const PAGE = 'docs/quick-start.md';

await machines(PAGE, () => {
  test('a kubelet with a unit of its own reads the effective file after the commands that the page shows', async () => {
    const played = commandsOn(PAGE).filter((part) => isPlayedBy('test/suites/systemd/quick-start.test.ts', PAGE, part));
    const commands = played.map(({ command }) => command).join('\n');
    const seen = await onMachine<QuickStartResult>('quick-start', { agent: 'bundle', options: { commands } });
    assert.deepEqual(seen, {
      starts: ['/etc/kubelet.yaml 100', '/var/lib/dkc/kubelet.yaml 100', '/var/lib/dkc/kubelet.yaml 142'],
      same: true,
    });
  });
});
