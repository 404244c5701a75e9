import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { access, constants, cp, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ActionError } from '../../base/errors.ts';
import { type Command, type Context, fine } from '../command.ts';
import { UsageError } from '../failure.ts';
import { differing, needsInstall, type PackageFile, packageFiles } from './install-plan.ts';

/** Directory of the package in the image; files that the image itself also uses, such as Node.js, are stored only once. */
const PACKAGE = '/usr/lib/dkc/package';
/** Temporary directory on the node. */
const STAGING = '/var/lib/dkc-node-installer';
/** Record on the node that install.sh writes. */
const RECORD = '/usr/lib/dkc/manifest';
const UNINSTALL = '/usr/lib/dkc/uninstall';

export const installNode: Command = {
  describe: `Installs the node's package out of this container image, for nodes without a package manager: the same files and the same steps as the tarball's install.sh, on the node whose root is mounted at --root. Runs as root in a privileged container (dkc deploy manifests --overlay=node-installer).

Verifies the SHA-256 of every file before and after it is put in place. If all files are in place already, changes nothing and restarts no unit. If a run was interrupted, the next one finishes the installation. The node needs systemd 252 or newer and a writable /usr; an installation from a .deb or .rpm is not changed.`,
  examples: [
    { run: 'dkc deploy install-node --root=/host', what: 'as the installer DaemonSet does' },
    { run: 'dkc deploy install-node --root=/host --uninstall', what: 'remove it: the kubelet goes back to its local configuration' },
  ],
  flags: [
    { name: 'root', type: 'string', value: 'DIR', completes: 'dir', required: true, text: 'where the root of the node is mounted' },
    { name: 'uninstall', type: 'boolean', text: 'remove what was installed; settings and checkpoints stay' },
  ],
  positionals: [],
  async run(context, args) {
    const root = args.text('root') ?? '';
    if (!root.startsWith('/') || root === '/') throw new UsageError('deploy install-node: --root must be a directory other than /');
    if (args.on('uninstall')) await uninstall(context, root);
    else await install(context, root);
    return fine;
  },
};

async function uninstall(context: Context, root: string): Promise<void> {
  if (!existsSync(join(root, UNINSTALL))) {
    context.stdout.write('dkc is not installed on this node, neither from the tarball nor from this image\n');
    return;
  }
  await onNode(context, root, [UNINSTALL]);
}

async function install(context: Context, root: string): Promise<void> {
  const text = async (path: string): Promise<string | undefined> => (existsSync(path) ? readFile(path, 'utf8') : undefined);
  const manifest = await text(join(PACKAGE, 'manifest'));
  const sums = await text(join(PACKAGE, 'sha256sums'));
  if (manifest === undefined || sums === undefined) {
    throw new ActionError('install', root, { hint: `there is no package at ${PACKAGE}: run this in the container image of dkc` });
  }
  const files = packageFiles(manifest, sums);
  const [record, isUnfinished] = [await text(join(root, RECORD)), existsSync(join(root, `${RECORD}.unfinished`))];
  if (!needsInstall(files, { found: await hashes(files, (path) => join(root, path)), manifest, record, isUnfinished })) {
    context.stdout.write(`dkc ${context.build.version} is installed on this node\n`);
    return;
  }
  await access(join(root, 'usr/lib'), constants.W_OK).catch((cause: unknown) => {
    throw new ActionError('install', root, { hint: 'its /usr/lib is not writable; on such an operating system dkc must be part of the system image', cause }); // prettier-ignore
  });
  const staging = join(root, STAGING);
  await rm(staging, { recursive: true, force: true });
  try {
    await mkdir(staging, { mode: 0o700, recursive: true });
    for (const name of ['manifest', 'sha256sums', 'install.sh']) await cp(join(PACKAGE, name), join(staging, name));
    const staged = (path: string): string => join(staging, 'files', path);
    for (const { path } of files) {
      await mkdir(dirname(staged(path)), { recursive: true });
      const own = join(PACKAGE, 'files', path);
      await cp(existsSync(own) ? own : path, staged(path), { verbatimSymlinks: true });
    }
    mustBeSame(root, differing(files, await hashes(files, staged)), 'were damaged while they were copied to the node; nothing was changed');
    await onNode(context, root, ['/bin/sh', join(STAGING, 'install.sh')]);
    mustBeSame(root, differing(files, await hashes(files, (path) => join(root, path))), 'do not match what was installed');
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function mustBeSame(root: string, differ: readonly string[], what: string): void {
  if (differ.length > 0) throw new ActionError('install', root, { hint: `${differ.slice(0, 3).join(', ')} ${what}` });
}

/** SHA-256 of the existing files, by path on the node. */
async function hashes(files: readonly PackageFile[], at: (path: string) => string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { path, sha256 } of files) {
    if (sha256 === undefined || !existsSync(at(path))) continue;
    const hash = createHash('sha256');
    await pipeline(createReadStream(at(path)), hash);
    found.set(path, hash.digest('hex'));
  }
  return found;
}

/** Runs a program of the node, in a chroot to the node's root. @throws {ActionError} unless it exits with 0 */
async function onNode(context: Context, root: string, command: readonly string[]): Promise<void> {
  // Without SYSTEMD_IGNORE_CHROOT systemctl does nothing in a chroot, since it assumes an image build.
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', SYSTEMD_IGNORE_CHROOT: '1', LC_ALL: 'C.UTF-8' };
  const child = spawn('/usr/sbin/chroot', [root, ...command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const [stream, sink] of [[child.stdout, context.stdout], [child.stderr, context.stderr]] as const) stream.on('data', (bytes: Buffer) => sink.write(bytes.toString('utf8'))); // prettier-ignore
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  if (code !== 0)
    throw new ActionError('change', root, { hint: `${command.join(' ')} failed with exit code ${code}; see its output above` });
}

/** Length of a single sleep, in ms. */
const DAY_MS = 86_400_000;

export const hold: Command = {
  describe: `Waits for SIGTERM and does nothing else. The pod of the installer DaemonSet runs it once its node has the package: without rights, mounts and network.`,
  examples: [{ run: 'dkc deploy hold', what: 'in the pod of the installer DaemonSet' }],
  flags: [],
  positionals: [],
  async run({ clock, signal, stdout }) {
    stdout.write('this node has the package; nothing is left to do\n');
    while (!signal.aborted) await clock.sleep(DAY_MS, signal).catch(() => {});
    return fine;
  },
};
