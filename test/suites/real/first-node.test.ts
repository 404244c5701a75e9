import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { givenRelease } from '../../support/real-parts/release.ts';
import { buildPackages } from '../systemd/build-packages.ts';
import { difference, readPage, recorded, writePage, type Command, type Part, type Typed as Printed } from '../../support/console.ts';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { held } from '../../support/played.ts';
import { LOCAL_PODS, releaseConfig } from './inside/configs.ts';
import { NODE_IP } from './inside/names.ts';
import { onNode } from './machine.ts';
import type { Typed } from './scenarios/first-node.ts';
import { onNodes } from './suite.ts';

const FILE = 'test/suites/real/first-node.test.ts';
const OPERATIONS = 'docs/operations.md';
const project = join(import.meta.dirname, '../../..');
const PAGE = join(project, 'docs/first-node.md');
const VERSION = '0.1.0';
const NEXT = '0.1.1';

const nothing: Printed = { output: '', code: -1 };

/** Commands of which each restarts the kubelet once; no other does. */
const RESTARTS = /^(?:apt-get install .*_0\.1\.0_|apt-get remove|dkc assign .*web-[134] |dkc rollback --reason)/;

await onNodes('docs/first-node.md', ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'], () => {
  const dir = mkdtempSync(join(tmpdir(), 'dkc-first-node-'));
  const folders = [VERSION, NEXT].map((version) => ({ version, out: join(dir, version) }));
  before(async () => void (await Promise.all(folders.map(({ out, version }) => buildPackages(out, version)))));
  after(() => rmSync(dir, { recursive: true }));

  const parts = readPage(readFileSync(PAGE, 'utf8'));
  const isShown = (part: Part): part is Command => isPlayedBy(FILE, 'docs/first-node.md', part);
  const shown = parts.filter(isShown);
  const commands = shown.map(({ command }) => command);
  const upgrade = commands.findIndex((command) => command.includes(`dkc_${NEXT}_`));
  // Of another page, what needs an API server that gives out tokens and asks kubelets: before the upgrade, with a ServiceAccount for the first of them.
  const ofOperations = commandsOn(OPERATIONS).filter((part) => isPlayedBy(FILE, OPERATIONS, part));
  const others = [
    'dkc deploy manifests --only=rbac --credentials=service-account --nodes=$NODE | kubectl apply -f -',
    ...ofOperations.map(({ command }) => command),
  ];
  test('shows what its commands print on a node with a real kubelet; RECORD=1 writes it', async (t) => {
    const seen = await onNode<Typed[]>('first-node', {
      release: await givenRelease(),
      registered: true,
      agent: 'none',
      files: { '/var/lib/kubelet/config.yaml': releaseConfig({ maxPods: LOCAL_PODS, address: NODE_IP }) },
      options: {
        programs: process.env['DKC_REAL_KUBERNETES'],
        packages: folders.map(({ out }) => out),
        commands: commands.toSpliced(upgrade, 0, ...others),
      },
    });
    for (const { command, ms } of seen) t.diagnostic(`${(ms / 1_000).toFixed(1)} s  ${command}`);
    const [, ...besides] = seen.splice(upgrade, others.length);
    assert.deepEqual(held(OPERATIONS, FILE, (part) => besides[ofOperations.indexOf(part)]), []); // prettier-ignore
    assert.deepEqual(besides.filter(({ kubeletRestarted }) => kubeletRestarted), []); // prettier-ignore
    const restarts = seen.flatMap(({ kubeletRestarted }, at) => (kubeletRestarted ? [commands[at] ?? ''] : []));
    assert.deepEqual(restarts, commands.filter((command) => RESTARTS.test(command))); // prettier-ignore
    if (process.env['RECORD'] === undefined) {
      assert.deepEqual(shown.flatMap((one, at) => difference(one, seen[at] ?? nothing) ?? []), []); // prettier-ignore
      return;
    }
    for (const [at, one] of shown.entries()) one.output = recorded(one, seen[at] ?? nothing);
    const seconds = Math.round(seen.reduce((sum, { ms }) => sum + ms, 0) / 1_000);
    const text = parts.find((one) => one.is === 'text' && one.text.includes('# One node'));
    if (text?.is === 'text') text.text = text.text.replace(/ \d+ seconds in all/, ` ${seconds} seconds in all`);
    writeFileSync(PAGE, writePage(parts));
  });
});
