import assert from 'node:assert/strict';
import { test } from 'node:test';
import { held } from '../../support/played.ts';
import { onMachine } from './machine.ts';
import type { InstallationResult } from './scenarios/installation.ts';
import { machines } from './suite.ts';

await machines('installation', () => {
  test('systemd understands every line, the sandbox is tight, and what is tampered with is reported', async (t) => {
    const seen = await onMachine<InstallationResult>('installation');
    t.diagnostic(`systemd ${seen.systemd}, exposure ${seen.exposure}`);
    assert.ok(seen.exposure <= 2, `exposure ${seen.exposure}`);
    assert.deepEqual(seen.complaints, []);
    assert.deepEqual(seen.tmpfiles, ['700 root /run/dkc', '700 root /var/lib/dkc', '700 root /etc/dkc']);
    assert.notEqual(seen.status, '', 'no STATUS= arrived');
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
});
