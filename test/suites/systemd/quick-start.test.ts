import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { QuickStartResult } from './scenarios/quick-start.ts';
import { machines } from './suite.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/quick-start.md'), 'utf8');

await machines('docs/quick-start.md', () => {
  test('a kubelet with a unit of its own reads the effective file after the commands that the page shows', async () => {
    const commands = /<!-- test: bare -->\n```sh\n(.*?)```/s.exec(page)?.[1] ?? assert.fail('the page has no such commands');
    const seen = await onMachine<QuickStartResult>('quick-start', { agent: 'bundle', options: { commands } });
    assert.deepEqual(seen, {
      starts: ['/etc/kubelet.yaml 100', '/var/lib/dkc/kubelet.yaml 100', '/var/lib/dkc/kubelet.yaml 142'],
      same: true,
    });
  });
});
