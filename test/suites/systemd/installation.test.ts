import assert from 'node:assert/strict';
import { test } from 'node:test';
import { held } from '../../support/played.ts';
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
      if (seen.drift === null) return;
      const { steps, kept, restored, events, text } = seen.drift;
      assert.deepEqual(held('docs/operations.md', 'test/suites/systemd/installation.test.ts', () => ({ output: text, code: 0 })), []); // prettier-ignore
      assert.deepEqual(steps, {
        'an edit': { drift: ['EffectiveFileChanged'], kubelet: 'untouched' },
        'a restart of the agent': { drift: [], kubelet: 'untouched' },
        'another edit, and the drop-in is gone': { drift: ['EffectiveFileChanged', 'NotUsed'], kubelet: 'untouched' },
        'the kubelet is restarted': { drift: ['EffectiveFileChanged', 'NotUsed'], kubelet: 'another process' },
        'policy corrects': { drift: ['NotUsed'], kubelet: 'untouched' },
        'the drop-in is back': { drift: [], kubelet: 'another process' },
      });
      assert.deepEqual([kept, restored], [true, [true, true]]);
      assert.deepEqual(events, ['Warning EffectiveFileChanged', 'Normal EffectiveFileChanged', 'Warning EffectiveFileChanged', 'Warning NotUsed', 'Normal EffectiveFileChanged', 'Normal NotUsed resolved']); // prettier-ignore
    });
  }
});
