import { networkInterfaces } from 'node:os';
import { cpuList, flagValue, memoryTotal, policyName } from './command-line.ts';
import { preflightSysctls } from '../config/config.ts';
import type { HostFacts } from '../config/contract.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';

/** Where a kubelet keeps the state files of its managers, unless `--root-dir` says otherwise. */
const KUBELET_ROOT = '/var/lib/kubelet';

/**
 * What preflight may know of this host. What cannot be read is left out, and then not checked: a sandbox that hides a file must not
 * refuse a config.
 * @param probe - paths whose presence matters to the config at hand
 * @param from.args - the kubelet's, for its `--root-dir`
 * @param from.hidden - folders of which this process may see another one than the kubelet: what is missing there may be there for it
 */
export async function readHost(
  disk: Pick<Disk, 'read' | 'readLinked' | 'stat' | 'list'>,
  probe: readonly string[],
  { args, hidden = [] }: { args: readonly string[]; hidden?: readonly string[] } = { args: [] },
): Promise<HostFacts> {
  const root = flagValue('--root-dir', args) ?? KUBELET_ROOT;
  const text = (path: string): Promise<string | undefined> =>
    disk.read(path).then(
      (bytes) => new TextDecoder().decode(bytes),
      () => undefined,
    );
  const [swaps, cpus, memory, cpuState, memoryState, cgroup2, nodes] = await Promise.all([
    text('/proc/swaps'),
    text('/sys/devices/system/cpu/online'),
    text('/proc/meminfo'),
    text(`${root}/cpu_manager_state`),
    text(`${root}/memory_manager_state`),
    disk.stat('/sys/fs/cgroup/cgroup.controllers').catch(() => undefined),
    disk.list('/sys/devices/system/node').catch(() => undefined),
  ]);
  const sysctls: Record<string, string> = {};
  for (const name of preflightSysctls) {
    const value = await text(`/proc/sys/${name}`);
    if (value !== undefined) sysctls[name] = value.trim();
  }
  const paths: Record<string, 'file' | 'dir' | 'missing' | 'unreadable'> = {};
  for (const path of probe) {
    const seen = await whatIsAt(disk, path);
    if (seen !== 'missing' || !hidden.some((folder) => path.startsWith(folder))) paths[path] = seen;
  }
  const onlineCpus = cpus === undefined ? undefined : cpuList(cpus);
  const memoryBytes = memory === undefined ? undefined : memoryTotal(memory);
  const cpuPolicy = cpuState === undefined ? undefined : policyName(cpuState);
  const memoryPolicy = memoryState === undefined ? undefined : policyName(memoryState);
  return {
    ...(swaps === undefined ? {} : { swapOn: swaps.trim().split('\n').length > 1 }),
    cgroupVersion: cgroup2 ? 2 : 1,
    ...(onlineCpus ? { onlineCpus } : {}),
    ...(nodes ? { numaNodes: nodes.flatMap((name) => (/^node\d+$/.test(name) ? [Number(name.slice(4))] : [])) } : {}),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(cpuPolicy === undefined ? {} : { cpuManagerState: { policyName: cpuPolicy } }),
    ...(memoryPolicy === undefined ? {} : { memoryManagerState: { policyName: memoryPolicy } }),
    ...(Object.keys(sysctls).length > 0 ? { sysctls } : {}),
    paths,
    ...addresses(),
  };
}

function addresses(): { addresses?: string[] } {
  try {
    return { addresses: Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)) };
  } catch {
    return {}; // needs netlink, which a sandbox may refuse
  }
}

async function whatIsAt(disk: Pick<Disk, 'readLinked' | 'stat'>, path: string): Promise<'file' | 'dir' | 'missing' | 'unreadable'> {
  try {
    const stat = await disk.stat(path);
    // A link is followed by the kubelet: what lies behind it shows only by reading.
    if (stat?.kind !== 'other') return stat?.kind ?? 'missing';
    await disk.readLinked(path);
    return 'file';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'missing' : 'unreadable';
  }
}
