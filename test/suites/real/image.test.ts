import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, closeSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { base } from '../../../scripts/image/base.ts';
import { buildImage, machineArch, whyNoImage } from '../../support/image/built.ts';
import { readLayout, unpack, type Image } from '../../support/image/layout.ts';
import { command, printed } from '../../support/image/pod.ts';
import { type } from '../../support/console.ts';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { onPath } from '../../support/real-parts/prometheus.ts';
import { config } from '../embedded/online/hosted-agent.ts';
import { root } from './cluster/subject.ts';
import { orSkip } from './suite.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as { version: string };
const noQemu =
  (await onPath('qemu-aarch64')) === undefined && process.env['CI'] !== 'true'
    ? { skip: "programs of arm64 are run by qemu-aarch64, of Debian's package qemu-user" }
    : {};
/** `e_machine` of ELF. */
const machines: Record<string, number> = { amd64: 62, arm64: 183 };

orSkip(await whyNoImage(), 'container image', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dkc-image-test-'));
  const built = join(dir, 'image');
  const rootOf = (arch: string): string => join(dir, `root-${arch}`);
  let layout: ReturnType<typeof readLayout>;
  before(async () => {
    await buildImage(built, ['amd64', 'arm64']);
    layout = readLayout(built);
    for (const image of layout.images) {
      const root = rootOf(image.config.architecture);
      mkdirSync(root);
      unpack(built, image, root);
    }
  });
  after(() => rmSync(dir, { recursive: true }));
  const mine = (): Image =>
    layout.images.find(({ config }) => config.architecture === machineArch) ?? assert.fail('no image for this machine');

  test('it is a layout as the specification has it: digests, sizes, types, platforms, layers', () => {
    assert.deepEqual(layout.problems, []);
    assert.equal(layout.name, version);
    assert.deepEqual(layout.images.map(({ config }) => config.architecture), ['amd64', 'arm64']); // prettier-ignore
    for (const { config } of layout.images) {
      assert.deepEqual([config.config.User, config.config.Entrypoint], ['65532:65532', ['/usr/bin/dkc']]);
      assert.equal(config.config.Labels['org.opencontainers.image.version'], version);
    }
  });

  test('layers are as small as docs/packages.md says, with the fastest compression too', () => {
    const mib = layout.images.map(({ layers }) => layers.map(({ size }) => size / 2 ** 20));
    for (const [lower = Infinity, upper = Infinity] of mib) assert.ok(lower < 50 && upper < 2, `${lower} MiB, ${upper} MiB`);
  });

  test('a second build, by the command that docs/packages.md shows, gives the same bytes', async () => {
    const again = join(dir, 'again');
    const shown = commandsOn('docs/packages.md').find((part) => isPlayedBy('test/suites/real/image.test.ts', 'docs/packages.md', part));
    const { code, output } = await type(`${shown?.command} --out=${again}`, { cwd: root, env: process.env as Record<string, string> });
    assert.equal(code, 0, output);
    const [image] = readLayout(again).images;
    assert.deepEqual(image?.pointer, layout.images.find(({ config }) => config.architecture === image?.config.architecture)?.pointer);
    rmSync(again, { recursive: true });
  });

  for (const arch of Object.keys(machines))
    test(`${arch}: every program is for that machine, and no shell is there`, () => {
      const root = rootOf(arch);
      const files = globSync('**', { cwd: root }).map((path) => join(root, path)).filter((path) => lstatSync(path).isFile()); // prettier-ignore
      const elf = files.map((path) => ({ path, head: head(path) })).filter(({ head }) => head.readUInt32BE(0) === 0x7f454c46);
      assert.ok(elf.length >= 9, `Node.js, chroot, the loader and its libraries: ${elf.length}`);
      assert.deepEqual(elf.filter(({ head }) => head.readUInt16LE(18) !== machines[arch]), []); // prettier-ignore
      assert.deepEqual(
        ['bin/sh', 'usr/bin/sh', 'usr/bin/env'].filter((path) => existsSync(join(root, path))),
        [],
      );
      const bill = JSON.parse(readFileSync(join(root, 'usr/share/doc/dkc/sbom.cdx.json'), 'utf8')) as { components: { name: string }[] };
      const names = new Set(bill.components.map(({ name }) => name));
      assert.deepEqual(
        ['node', 'yaml', ...Object.keys(base.packages)].filter((name) => !names.has(name)),
        [],
      );
      assert.match(readFileSync(join(root, 'usr/share/doc/dkc/NOTICE'), 'utf8'), /is Node\.js[^]*^coreutils .*: GPL-3/m);
    });

  const commands = [
    { args: ['--version'], says: new RegExp(`^dkc ${version.replaceAll('.', '\\.')} `) },
    { args: ['controllers', 'run', '--help'], says: /^Usage: dkc controllers run/ },
    { args: ['scheduler', 'run', '--help'], says: /^Usage: dkc scheduler run/ },
  ];
  for (const { args, says } of commands)
    test(`dkc ${args.join(' ')} runs in it, as its user with a root that nobody can write to`, () =>
      assert.match(printed(rootOf(machineArch), mine().config, args), says));

  // qemu runs the programs of arm64 with the libraries of its image.
  const emulated = (): string[] => {
    const libraries = join(rootOf('arm64'), 'usr/lib/aarch64-linux-gnu');
    return [join(libraries, 'ld-linux-aarch64.so.1'), '--library-path', libraries, join(rootOf('arm64'), 'usr/lib/dkc/node')];
  };
  const bundle = (): string => join(rootOf('arm64'), 'usr/lib/dkc/dkc.js');

  test('arm64: dkc validate says of good and bad what it says on this machine', noQemu, () => {
    const input = `${config({ maxPods: -1 })}---\n${config({ evictionHard: { 'memory.available': '5%' } })}`;
    const by = (program: string, args: string[]) => {
      const { status, stdout, stderr } = spawnSync(program, [...args, 'validate', '-', '--kubelet-version=1.36'], {
        input,
        encoding: 'utf8',
      });
      return { status, stdout, stderr };
    };
    const there = by('qemu-aarch64', [...emulated(), bundle()]);
    assert.deepEqual(there, by(process.execPath, [bundle()]));
    assert.equal(there.status, 1);
  });

  test('dkc deploy hold goes on until it is asked to end, and ends with 0', async () => {
    const { program, args, env } = command(rootOf(machineArch), mine().config, ['deploy', 'hold']);
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(said.toString(), 'this node has the package; nothing is left to do\n');
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('the program is that user, and cannot write', () => {
    const script = `let e; try { fs.writeFileSync('/tmp/x', '') } catch (error) { e = error.code } console.log(process.getuid(), process.getgid(), e)`;
    assert.equal(printed(rootOf(machineArch), mine().config, ['-e', script], ['/usr/lib/dkc/node']), '65532 65532 EROFS\n');
  });
});

function head(path: string): Buffer {
  const bytes = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, bytes, 0, 20, 0);
  closeSync(file);
  return bytes;
}
