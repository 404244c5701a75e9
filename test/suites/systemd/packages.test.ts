import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type } from '../../support/console.ts';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { buildImage, machineArch, whyNoImage } from '../../support/image/built.ts';
import { readLayout, unpack } from '../../support/image/layout.ts';
import { onPath } from '../../support/real-parts/prometheus.ts';
import { buildPackages } from './build-packages.ts';
import { packageKinds } from './inside/packages.ts';
import { onMachine } from './machine.ts';
import { playNodePages } from './node-pages.ts';
import { cuts } from './packages-cut.ts';
import type { CutResult } from './scenarios/packages-cut.ts';
import type { PackagesResult, Step } from './scenarios/packages.ts';
import { machines } from './suite.ts';

const project = join(import.meta.dirname, '../../..');
const arch = machineArch;
const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
const next = version.replace(/\d+$/, (patch) => String(Number(patch) + 1));

const noImage = await whyNoImage();
const noDnf = (await onPath('dnf')) === undefined ? "the rpm is installed by dnf, of Debian's package dnf" : undefined;
const skipped = (why: string | undefined): { skip?: string } => (why === undefined || process.env['CI'] === 'true' ? {} : { skip: why });

await machines(
  'packages',
  () => {
    const dir = mkdtempSync(join(tmpdir(), 'dkc-packages-'));
    const [older, newer] = [join(dir, 'older'), join(dir, 'newer')];
    /** Images of both versions, each as a runtime would unpack it. */
    const unpackedImages = async (): Promise<{ older: string; newer: string }> => {
      const unpackedOf = async (called: string): Promise<string> => {
        const [built, root] = [join(dir, `image-${called}`), join(dir, `root-${called}`)];
        await buildImage(built, [arch], called);
        const [image] = readLayout(built).images;
        assert.ok(image);
        mkdirSync(root);
        unpack(built, image, root);
        return root;
      };
      return { older: await unpackedOf(version), newer: await unpackedOf(next) };
    };
    before(async () => void (await Promise.all([buildPackages(older, version), buildPackages(newer, next)])));
    after(() => rmSync(dir, { recursive: true }));

    test('another build, by the command that docs/packages.md shows, gives the same bytes', async () => {
      const lines = readFileSync(join(older, 'SHA256SUMS'), 'utf8').split('\n').length;
      assert.equal(lines, packageKinds.length + 4, 'a line for each package, the bill of materials, the plugin and its manifest');
      const shown = commandsOn('docs/packages.md').find((part) =>
        isPlayedBy('test/suites/systemd/packages.test.ts', 'docs/packages.md', part),
      );
      const out = join(dir, 'shown');
      const seen = await type(`${shown?.command} --out=${out}`, { cwd: project, env: process.env as Record<string, string> });
      assert.equal(seen.code, 0, seen.output);
      assert.deepEqual(readdirSync(out).filter((name) => /dkc_/.test(name)), [`dkc_${version}_amd64.deb`]); // prettier-ignore
      const hash = (of: string): string | undefined => /^[0-9a-f]{64}(?=  dkc_)/m.exec(readFileSync(join(of, 'SHA256SUMS'), 'utf8'))?.[0];
      if (arch === 'amd64') assert.equal(hash(out), hash(older));
    });

    test('the plugin for krew works from where it was unpacked, behind the link that krew makes', () => {
      const [unpacked, bin] = [join(dir, 'store'), join(dir, 'bin')];
      mkdirSync(unpacked);
      mkdirSync(bin);
      execFileSync('tar', ['-xzf', join(older, `kubectl-dkc-${version}-linux-${arch}.tar.gz`), '-C', unpacked]);
      for (const name of ['kubectl-dkc', 'kubectl_complete-dkc']) symlinkSync(join(unpacked, name), join(bin, name));
      const env = { PATH: '/usr/bin:/bin' };
      const run = (name: string, ...args: string[]): string => execFileSync(join(bin, name), args, { encoding: 'utf8', env });
      assert.equal((JSON.parse(run('kubectl-dkc', 'version', '-o', 'json')) as { version: string }).version, version);
      assert.match(run('kubectl-dkc', '--help'), /kubectl dkc COMMAND/);
      assert.match(run('kubectl_complete-dkc', 'vers'), /^version\t.*\n:4\n$/);
      const hash = /sha256: "([0-9a-f]{64})"/.exec(readFileSync(join(older, 'dkc.krew.yaml'), 'utf8'))?.[1];
      assert.ok(readFileSync(join(older, 'SHA256SUMS'), 'utf8').includes(`${hash}  kubectl-dkc-`));
      assert.ok(existsSync(join(unpacked, 'LICENSE')));
    });

    test('README.md and docs/install.md, operations.md, doctor.md, store-format.md and support-bundle.md show what commands print on a node', async () => {
      assert.deepEqual(await playNodePages([older, newer], arch), []);
    });

    for (const kind of ['deb', 'dnf', 'tar', 'image'] as const) {
      const skip = kind === 'image' ? noImage : kind === 'dnf' ? noDnf : undefined;
      test(`${kind}: an upgrade restarts no kubelet, and removal gives it back`, skipped(skip), async () => {
        const folders = kind === 'image' ? await unpackedImages() : { older, newer };
        const { steps, ...seen } = await onMachine<PackagesResult>('packages', { bare: true, options: { kind, ...folders } });
        const ours = '/var/lib/dkc/kubelet.yaml';
        const row = (kubeletStarts: number, config: string, maxPods: number, agent: string, version: string): Step => ({ kubeletStarts, config, maxPods, agent, version }); // prettier-ignore
        const local = '/var/lib/kubelet/config.yaml';
        const back = kind !== 'dnf';
        assert.deepEqual(steps, {
          install: row(1, ours, 100, 'active enabled', version),
          assign: row(1, ours, 120, 'active enabled', version),
          upgrade: row(0, ours, 120, 'active enabled', next),
          downgrade: row(0, ours, 120, 'active enabled', version),
          'the same again': row(0, ours, 120, 'active enabled', version),
          'upgrade of a disabled agent': row(0, ours, 120, 'inactive disabled', next),
          remove: row(1, local, 100, 'inactive', ''),
          ...(back ? { 'install after that': row(1, ours, 120, 'active enabled', next) } : {}),
          purge: row(back ? 1 : 0, local, 100, 'inactive', ''),
        });
        assert.deepEqual(seen, {
          settingsKept: true,
          agentRestarted: true,
          modes: ['700 root /etc/dkc', '600 root /etc/dkc/agent.yaml', '700 root /var/lib/dkc', '700 root /run/dkc'],
          left: [],
          gone: [],
          complaints: [],
          // The machine is not that of a cluster of today: its kubelet is a stand-in, its API server like 1.20, and it has no network for the time.
          doctor: [
            'kubelet-unit warning: kubelet.service is disabled: it does not start at boot on its own',
            'clock warning: the clock of this machine is not synchronized by NTP',
            'version-skew failed: the kubelet is 1.34, newer than the API server, which is 1.20',
          ],
        });
      });
    }

    for (const kind of packageKinds)
      test(`${kind}: what was cut short is finished or undone by the next command`, async () => {
        const seen = await onMachine<Record<string, CutResult>>('packages-cut', { bare: true, options: { kind, older, newer, cuts: cuts[kind] } }); // prettier-ignore
        const up = `${version}, active, /var/lib/dkc/kubelet.yaml`;
        const local = 'none, inactive, /var/lib/kubelet/config.yaml';
        const wanted = cuts[kind].map((cut): [string, CutResult] => [
          `${cut.during} at ${cut.file ?? cut.call}, ${cut.afterwards}`,
          {
            kubelet: cut.during === 'upgrade' ? 'untouched' : 'started again with 100 pods',
            end: cut.afterwards === 'purge' || cut.during === 'remove' ? local : up,
            changed: [],
          },
        ]);
        assert.deepEqual(seen, Object.fromEntries(wanted));
      });
  },
  2,
);
