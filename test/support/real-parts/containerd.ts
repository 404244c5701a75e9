import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { downloadPackages } from '../../../scripts/image/apt.ts';
import { machineArch } from '../image/built.ts';
import { RealPartsUnavailable } from './real-kubelet.ts';
import { cacheHome } from './release.ts';

/** With containerd its shim and `ctr`; a program for an image that is made by hand. */
const PACKAGES = ['containerd', 'runc', 'busybox-static'];

/**
 * The root of Debian's packages of containerd and runc, unpacked and not installed, with a static busybox beside them. The first call downloads them;
 * then they are in the cache.
 * @throws {RealPartsUnavailable} where apt does not have them
 */
export function containerdParts(): string {
  const home = join(cacheHome(), `debian-${machineArch}-${PACKAGES.join('+')}`);
  if (existsSync(home)) return home;
  mkdirSync(cacheHome(), { recursive: true });
  // Beside it, as several processes may do so at once.
  const scratch = mkdtempSync(`${home}.`);
  try {
    const debs = downloaded();
    for (const deb of globSync(join(debs, '*.deb'))) execFileSync('dpkg-deb', ['-x', deb, scratch]);
    rmSync(debs, { recursive: true });
    try {
      renameSync(scratch, home);
    } catch (error) {
      if (!existsSync(home)) throw error;
    }
    return home;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function downloaded(): string {
  try {
    return downloadPackages(PACKAGES, machineArch);
  } catch (cause) {
    throw new RealPartsUnavailable(`apt has none of ${PACKAGES.join(', ')} here: a container runtime needs Debian 12`, { cause });
  }
}

/** Programs of {@link containerdParts}: path on a node, as Debian installs them -> path below the root. */
export const containerdPrograms: Readonly<Record<string, string>> = {
  '/usr/bin/containerd': 'usr/bin/containerd',
  '/usr/bin/containerd-shim-runc-v2': 'usr/bin/containerd-shim-runc-v2',
  '/usr/bin/ctr': 'usr/bin/ctr',
  '/usr/sbin/runc': 'usr/sbin/runc',
  '/usr/lib/sleeper/busybox': 'bin/busybox',
  '/etc/systemd/system/containerd.service': 'lib/systemd/system/containerd.service',
};

/** By which a kubelet finds containerd where nothing else is said. */
export const CONTAINERD = '/run/containerd/containerd.sock';

/** /etc/containerd/config.toml for a node within a node. @param sandboxImage - of the first container of each pod */
export const containerdConfig = (sandboxImage: string): string => `version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${sandboxImage}"
# Without CAP_SYS_RESOURCE no process may get a lower score than its parent.
restrict_oom_score_adj = true
# The cgroups of such a node have no controllers.
disable_cgroup = true
[plugins."io.containerd.grpc.v1.cri".containerd]
# Its disk is an overlay itself, on which there can be no other.
snapshotter = "native"
`;

/** Makes the network of pods ready, which here is the node's own. */
export const networkConfig = JSON.stringify({ cniVersion: '0.4.0', name: 'none', plugins: [{ type: 'loopback' }] });
