import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { onMachine } from './machine.ts';
import type { Place, QuickStartResult } from './scenarios/quick-start.ts';
import { machines } from './suite.ts';

const PAGE = 'docs/quick-start.md';

const cases: readonly { heading: string; place: Place; before: string[] }[] = [
  { heading: '## A kubelet with a unit of its own', place: 'plain', before: ['/etc/kubelet.yaml 100', '/var/lib/dkc/kubelet.yaml 100'] },
  // The local configuration that the page writes says nothing of pods.
  { heading: '## k3s, 1.32 and newer', place: 'k3s', before: ['/var/lib/k3s-defaults.yaml 100', '/var/lib/dkc/kubelet.yaml null'] },
];

await machines(PAGE, () => {
  const played = commandsOn(PAGE).filter((part) => isPlayedBy('test/suites/systemd/quick-start.test.ts', PAGE, part));
  for (const { heading, place, before } of cases)
    test(`${heading}: the kubelet reads the effective file after the commands that the page shows`, async () => {
      const commands = played.flatMap((part) => (part.heading === heading ? [part.command] : [])).join('\n');
      const seen = await onMachine<QuickStartResult>('quick-start', { options: { place, commands } });
      assert.deepEqual(seen, { starts: [...before, '/var/lib/dkc/kubelet.yaml 142'], same: true });
    });
});
