import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { givenRelease } from '../../support/real-parts/release.ts';
import { comparable, readPage, writePage } from './console/console.ts';
import { onNode } from './machine.ts';
import type { Typed } from './scenarios/first-node.ts';
import { onReleaseNodes } from './suite.ts';

const project = join(import.meta.dirname, '../../..');
const PAGE = join(project, 'docs/first-node.md');
const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
const VERSION = '0.1.0';
const NEXT = '0.1.1';

/** The same with the tarball: commands of the page -> those in their place. */
const tarball: Readonly<Record<string, string>> = {
  [`apt-get install -qq -y ./dkc_${VERSION}_${arch}.deb`]: `tar -xzf dkc-${VERSION}-linux-${arch}.tar.gz && ./dkc-${VERSION}-linux-${arch}/install.sh`,
  [`apt-get install -qq -y ./dkc_${NEXT}_${arch}.deb`]: `tar -xzf dkc-${NEXT}-linux-${arch}.tar.gz && ./dkc-${NEXT}-linux-${arch}/install.sh`,
  'apt-get remove -qq -y dkc': '/usr/lib/dkc/uninstall',
  'apt-get purge -qq -y dkc': `./dkc-${NEXT}-linux-${arch}/install.sh --purge`,
};

/** Commands of which each restarts the kubelet once; no other does. */
const RESTARTS = /^(?:apt-get install .*_0\.1\.0_|apt-get remove|dkc assign .*web-[134] |dkc rollback --reason)/;

await onReleaseNodes('docs/first-node.md', ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'], () => {
  const dir = mkdtempSync(join(tmpdir(), 'dkc-first-node-'));
  const folders = [VERSION, NEXT].map((version) => ({ version, out: join(dir, version) }));
  before(async () => {
    const make = ({ version, out }: { version: string; out: string }): Promise<unknown> =>
      promisify(execFile)(process.execPath, ['scripts/package.ts', '--fast', `--arch=${arch}`, `--out=${out}`, `--version=${version}`], { cwd: project }); // prettier-ignore
    await Promise.all(folders.map(make));
  });
  after(() => rmSync(dir, { recursive: true }));

  const parts = readPage(readFileSync(PAGE, 'utf8'));
  const commands = parts.flatMap((part) => (part.is === 'command' ? [part.command] : []));
  const played = async (typed: readonly string[]): Promise<Typed[]> =>
    onNode<Typed[]>('first-node', {
      release: await givenRelease(),
      registered: true,
      agent: 'none',
      options: { programs: process.env['DKC_REAL_KUBERNETES'], packages: folders.map(({ out }) => out), commands: typed },
    });

  test('shows what its commands print on a node with a real kubelet; RECORD=1 writes it', async (t) => {
    const typed = await played(commands);
    for (const { command, ms } of typed) t.diagnostic(`${(ms / 1_000).toFixed(1)} s  ${command}`);
    const shown = parts.flatMap((part) => (part.is === 'command' ? [part] : []));
    if (process.env['RECORD'] !== undefined) {
      for (const [at, part] of shown.entries()) part.output = typed[at]?.output ?? '';
      const seconds = Math.round(typed.reduce((sum, { ms }) => sum + ms, 0) / 1_000);
      writeFileSync(PAGE, writePage(parts).replace(/ \d+ seconds in all/, ` ${seconds} seconds in all`));
    } else {
      for (const [at, { command, output }] of shown.entries())
        assert.equal(comparable(command, typed[at]?.output ?? ''), comparable(command, output), command);
    }
    const restarted = typed.filter(({ kubeletRestarted }) => kubeletRestarted).map(({ command }) => command);
    assert.deepEqual(restarted, commands.filter((command) => RESTARTS.test(command))); // prettier-ignore
  });

  test('says the same with the tarball', async (t) => {
    const typed = await played(commands.map((command) => tarball[command] ?? command));
    for (const { command, ms } of typed) t.diagnostic(`${(ms / 1_000).toFixed(1)} s  ${command}`);
    const shown = parts.flatMap((part) => (part.is === 'command' ? [part] : []));
    for (const [at, { command, output }] of shown.entries())
      if (tarball[command] === undefined) assert.equal(comparable(command, typed[at]?.output ?? ''), comparable(command, output), command);
    const restarted = typed.flatMap(({ kubeletRestarted }, at) => (kubeletRestarted ? [commands[at] ?? ''] : []));
    assert.deepEqual(restarted, commands.filter((command) => RESTARTS.test(command))); // prettier-ignore
  });
});
