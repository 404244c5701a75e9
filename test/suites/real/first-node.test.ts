import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { machineArch } from '../../support/image/built.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { buildPackages } from '../systemd/build-packages.ts';
import { difference, readPage, recorded, writePage, type Command, type Part, type Typed as Printed } from '../../support/console.ts';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { held } from '../../support/played.ts';
import { LOCAL_PODS, releaseConfig } from './inside/configs.ts';
import { NODE_IP } from './inside/names.ts';
import { onNode } from './machine.ts';
import type { Typed } from './scenarios/first-node.ts';
import { onReleaseNodes } from './suite.ts';

const FILE = 'test/suites/real/first-node.test.ts';
const OPERATIONS = 'docs/operations.md';
const project = join(import.meta.dirname, '../../..');
const PAGE = join(project, 'docs/first-node.md');
const arch = machineArch;
const VERSION = '0.1.0';
const NEXT = '0.1.1';

/** The same with the tarball: commands of the page -> those in their place. */
const tarball: Readonly<Record<string, string>> = {
  [`apt-get install -qq -y ./dkc_${VERSION}_${arch}.deb`]: `tar -xzf dkc-${VERSION}-linux-${arch}.tar.gz && ./dkc-${VERSION}-linux-${arch}/install.sh`,
  [`apt-get install -qq -y ./dkc_${NEXT}_${arch}.deb`]: `tar -xzf dkc-${NEXT}-linux-${arch}.tar.gz && ./dkc-${NEXT}-linux-${arch}/install.sh`,
  'apt-get remove -qq -y dkc': '/usr/lib/dkc/uninstall',
  'apt-get purge -qq -y dkc': `./dkc-${NEXT}-linux-${arch}/install.sh --purge`,
};

const nothing: Printed = { output: '', code: -1 };

/** Commands of which each restarts the kubelet once; no other does. */
const RESTARTS = /^(?:apt-get install .*_0\.1\.0_|apt-get remove|dkc assign .*web-[134] |dkc rollback --reason)/;

await onReleaseNodes('docs/first-node.md', ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'], () => {
  const dir = mkdtempSync(join(tmpdir(), 'dkc-first-node-'));
  const folders = [VERSION, NEXT].map((version) => ({ version, out: join(dir, version) }));
  before(async () => void (await Promise.all(folders.map(({ out, version }) => buildPackages(out, version)))));
  after(() => rmSync(dir, { recursive: true }));

  const parts = readPage(readFileSync(PAGE, 'utf8'));
  const isShown = (part: Part): part is Command => isPlayedBy(FILE, 'docs/first-node.md', part);
  const [shown, ofTarball] = [false, true].map((is) => parts.filter(isShown).filter(({ heading }) => (heading === '## From the tarball') === is)) as [Command[], Command[]]; // prettier-ignore
  const commands = shown.map(({ command }) => command);
  const upgrade = commands.findIndex((command) => command.includes(`dkc_${NEXT}_`));
  // Of another page, what needs an API server that gives out tokens and asks kubelets: before the upgrade, with a ServiceAccount for the first of them.
  const ofOperations = commandsOn(OPERATIONS).filter((part) => isPlayedBy(FILE, OPERATIONS, part));
  const others = [
    'dkc deploy manifests --only=rbac --credentials=service-account --nodes=$NODE | kubectl apply -f -',
    ...ofOperations.map(({ command }) => command),
  ];
  const played = async (t: TestContext, typed: readonly string[]): Promise<Typed[]> => {
    const seen = await onNode<Typed[]>('first-node', {
      release: await givenRelease(),
      registered: true,
      agent: 'none',
      files: { '/var/lib/kubelet/config.yaml': releaseConfig({ maxPods: LOCAL_PODS, address: NODE_IP }) },
      options: {
        programs: process.env['DKC_REAL_KUBERNETES'],
        packages: folders.map(({ out }) => out),
        commands: typed.toSpliced(upgrade, 0, ...others),
      },
    });
    for (const { command, ms } of seen) t.diagnostic(`${(ms / 1_000).toFixed(1)} s  ${command}`);
    const [, ...besides] = seen.splice(upgrade, others.length);
    assert.deepEqual(held(OPERATIONS, FILE, (part) => besides[ofOperations.indexOf(part)]), []); // prettier-ignore
    assert.deepEqual(besides.filter(({ kubeletRestarted }) => kubeletRestarted), []); // prettier-ignore
    const restarts = seen.flatMap(({ kubeletRestarted }, at) => (kubeletRestarted ? [commands[at] ?? ''] : []));
    assert.deepEqual(restarts, commands.filter((command) => RESTARTS.test(command))); // prettier-ignore
    return seen;
  };
  /** Compares what a part of the page shows with what was printed; with RECORD=1 writes it there, and the sum of the times behind the heading. */
  const hold = (
    part: readonly Command[],
    printed: (one: Command) => Printed | undefined,
    typed: readonly Typed[],
    heading: string,
  ): void => {
    if (process.env['RECORD'] === undefined) {
      assert.deepEqual(part.map((one) => difference(one, printed(one) ?? nothing)).filter((one) => one !== undefined), []); // prettier-ignore
      return;
    }
    for (const one of part) one.output = recorded(one, printed(one) ?? nothing);
    const seconds = Math.round(typed.reduce((sum, { ms }) => sum + ms, 0) / 1_000);
    const text = parts.find((one) => one.is === 'text' && one.text.includes(heading));
    if (text?.is === 'text') text.text = text.text.replace(/ \d+ seconds in all/, ` ${seconds} seconds in all`);
    writeFileSync(PAGE, writePage(parts));
  };

  test('shows what its commands print on a node with a real kubelet; RECORD=1 writes it', async (t) => {
    const typed = await played(t, commands);
    hold(shown, (one) => typed[shown.indexOf(one)], typed, '# One node');
  });

  test('says the same with the tarball', async (t) => {
    if (process.env['DKC_FIRST_NODE'] === 'deb')
      return t.skip('DKC_FIRST_NODE=deb plays one of the two; packages.test.ts has the tarball as well');
    const typed = await played(t, commands.map((command) => tarball[command] ?? command)); // prettier-ignore
    for (const [at, one] of shown.entries())
      if (tarball[one.command] === undefined) assert.equal(difference(one, typed[at] ?? nothing), undefined);
    const byCommand = new Map(typed.map((one) => [one.command, one]));
    hold(ofTarball, ({ command }) => byCommand.get(command), typed, '## From the tarball');
  });
});
