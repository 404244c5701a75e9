import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSAGE_FOLDERS, messageFiles, textsOf } from '../../../scripts/message-texts.ts';

/** Words that made readers of `npm run messages` read a line twice: each has a plain word in Kubernetes' own language. */
const DIALECT = /\b(?:whoever|anew|by itself|somebody|anybody|everybody|taken back|trying again|exclude each other|goes on by)\b/i;

test('no message has a word of the dialect that the code once spoke', () => {
  const files = messageFiles(MESSAGE_FOLDERS);
  const texts = files.flatMap((file) => textsOf(file).map(({ line, text }) => ({ at: `${file}:${line}`, text })));
  assert.ok(texts.length > 4000, `${texts.length} texts`);
  assert.deepEqual(
    texts.filter(({ text }) => DIALECT.test(text)).map(({ at, text }) => `${at} ${text}`),
    [],
  );
});

test('the page has descriptions of CRDs, alerts, what scripts print, and the fleet page', () => {
  const has = (file: string, text: string): void =>
    assert.ok(
      textsOf(file).some((one) => one.text.includes(text)),
      `${file}: ${text}`,
    );
  has('deploy/rollout-crd.ts', 'Phase of the rollout');
  has('deploy/monitoring.ts', 'Prometheus cannot scrape');
  has('systemd/kubelet-sync', 'cannot read $effective');
  has('controllers/page/assets/index.html', 'Skip to nodes');
  has('systemd/agent.yaml', 'nodeName');
  has('kube/process/leadership.ts', 'Cannot elect this process');
});
