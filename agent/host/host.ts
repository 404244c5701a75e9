import { networkInterfaces } from 'node:os';
import { flagInArgs } from './unit.ts';
import { cpuList, memoryTotal } from './facts.ts';
import { cpuManagerState, isJson, listeners, memoryManagerState, pairMatches, pemFacts, readOnlyPaths } from './facts.ts';
import { defaultSocket, filesToRead, pathsToProbe, preflightSysctls } from '../config/config.ts';
import type { HostFacts, JsonObject } from '../config/contract.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';

/** Where a kubelet keeps its state files, unless `--root-dir` says otherwise. */
const KUBELET_ROOT = '/var/lib/kubelet';
const STATE_FILES = ['cpu_manager_state', 'memory_manager_state', 'allocated_pods_state', 'dra_manager_state'];
/** A bundle of all authorities of a distribution has 250 KB. */
const MAX_PEM_BYTES = 2 * 1024 * 1024;
const HUGE_PAGES = '/sys/kernel/mm/hugepages';

type HostDisk = Pick<Disk, 'read' | 'readLinked' | 'stat' | 'list' | 'capacity'>;

export interface Probing {
  /** The kubelet's arguments, for its `--root-dir`. */
  args: readonly string[];
  /** Directories in which this process sees other files than the kubelet (PrivateTmp=): a file that is missing there may exist for the kubelet. */
  hidden?: readonly string[];
  /** Directory whose files are not read. */
  except?: string;
  /**
   * The running kubelet. Its ports are free again when it restarts. Where the socket of its runtime is missing, the runtime is down, which no
   * configuration caused. Absent: neither ports nor the default runtime are checked.
   */
  running?: { ports: readonly number[]; sockets: readonly string[] };
}

/**
 * Facts about this host for preflight. Facts that cannot be read are left out and then not checked: a sandbox that hides a file must not cause a
 * rejection.
 * @param defaulted - the configuration to check, for the paths that it names
 */
export async function readHost(
  disk: HostDisk,
  defaulted: JsonObject,
  { args, hidden = [], except, running }: Probing = { args: [] },
): Promise<HostFacts> {
  const root = flagInArgs('--root-dir', args) ?? KUBELET_ROOT;
  const text = (path: string): Promise<string | undefined> => textOf(disk.read(path));
  const [swaps, cpus, memory, cgroup2, systemd, nodes, pages, subIds, readOnlySysctls, diskBytes] = await Promise.all([
    text('/proc/swaps'),
    text('/sys/devices/system/cpu/online'),
    text('/proc/meminfo'),
    disk.stat('/sys/fs/cgroup/cgroup.controllers').catch(() => undefined),
    disk.stat('/run/systemd/system').catch(() => undefined),
    disk.list('/sys/devices/system/node').catch(() => undefined),
    hugePages(disk),
    text('/etc/subuid'),
    readOnlySysctlsOf(disk),
    disk.capacity(root),
  ]);
  const sysctls: Record<string, string> = {};
  for (const name of preflightSysctls) {
    const value = await text(`/proc/sys/${name}`);
    if (value !== undefined) sysctls[name] = value.trim();
  }
  const paths: Record<string, 'file' | 'dir' | 'missing' | 'unreadable'> = {};
  // Without a known command line, a flag may give the kubelet another runtime.
  const runtime = running && args.length > 0 ? defaultSocket(defaulted) : undefined;
  for (const path of [...pathsToProbe(defaulted), ...(runtime === undefined ? [] : [runtime])].filter(
    (one) => (except === undefined || !one.startsWith(`${except}/`)) && !running?.sockets.includes(one),
  )) {
    const seen = await whatIsAt(disk, path);
    if (seen !== 'missing' || !hidden.some((folder) => path.startsWith(folder))) paths[path] = seen;
  }
  const onlineCpus = cpus === undefined ? undefined : cpuList(cpus);
  const memoryBytes = memory === undefined ? undefined : memoryTotal(memory);
  return {
    ...(swaps === undefined ? {} : { swapOn: swaps.trim().split('\n').length > 1 }),
    cgroupVersion: cgroup2 ? 2 : 1,
    systemd: systemd !== undefined,
    ...(onlineCpus ? { onlineCpus } : {}),
    ...(nodes ? { numaNodes: nodes.flatMap((name) => (/^node\d+$/.test(name) ? [Number(name.slice(4))] : [])) } : {}),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(pages ? { hugePages: pages } : {}),
    ...(subIds === undefined ? {} : { kubeletSubIds: /^kubelet:/m.test(subIds) }),
    ...(Object.keys(sysctls).length > 0 ? { sysctls } : {}),
    ...(readOnlySysctls.length > 0 ? { readOnlySysctls } : {}),
    paths,
    ...(diskBytes === undefined ? {} : { diskBytes }),
    ...(await statesOf(disk, root)),
    ...(await contentsOf(disk, defaulted, except)),
    ...(running ? await listeningOf(disk, running.ports) : {}),
    ...addresses(),
  };
}

const textOf = (read: Promise<Uint8Array>): Promise<string | undefined> =>
  read.then(
    (bytes) => new TextDecoder().decode(bytes),
    () => undefined,
  );

/** Most processes that are searched for the kubelet. */
const MAX_PROCESSES = 20_000;

/**
 * Kernel settings that the kubelet cannot write, by the mounts of its process: a kubelet with a mount namespace of its own may see other mounts than
 * the agent and the host. Empty where no kubelet runs.
 */
async function readOnlySysctlsOf(disk: HostDisk): Promise<string[]> {
  const paths = preflightSysctls.map((name) => `/proc/sys/${name}`);
  const stuck = async (pid: string): Promise<string[]> => {
    const mounts = await textOf(disk.read(`/proc/${pid}/mountinfo`));
    return mounts === undefined ? [] : readOnlyPaths(mounts, paths).map((path) => path.slice('/proc/sys/'.length));
  };
  // On an ordinary host PID 1 has no read-only sysctls: skip the search for the kubelet.
  if ((await stuck('1')).length === 0) return [];
  const pids = (await disk.list('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).slice(0, MAX_PROCESSES);
  for (const pid of pids) if ((await textOf(disk.read(`/proc/${pid}/comm`)))?.trim() === 'kubelet') return stuck(pid);
  return [];
}

/** Page sizes of which the host has at least one page, in any NUMA node. */
async function hugePages(disk: HostDisk): Promise<string[] | undefined> {
  const names = await disk.list(HUGE_PAGES).catch(() => undefined);
  if (names === undefined) return undefined;
  const sizes: string[] = [];
  for (const name of names) {
    const kib = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
    const count = await textOf(disk.read(`${HUGE_PAGES}/${name}/nr_hugepages`));
    if (kib > 0 && Number(count) > 0) sizes.push(kib >= 1024 * 1024 ? `hugepages-${kib / 1024 / 1024}Gi` : `hugepages-${kib / 1024}Mi`);
  }
  return sizes;
}

async function statesOf(disk: HostDisk, root: string): Promise<Partial<HostFacts>> {
  const texts = await Promise.all(STATE_FILES.map((file) => textOf(disk.read(`${root}/${file}`))));
  const [cpu, memory] = texts;
  const cpuState = cpu === undefined ? undefined : cpuManagerState(cpu);
  const memoryState = memory === undefined ? undefined : memoryManagerState(memory);
  const damagedStates = STATE_FILES.filter((_, index) => texts[index] !== undefined && !isJson(texts[index] ?? ''));
  return {
    ...(cpuState === undefined ? {} : { cpuManagerState: cpuState }),
    ...(memoryState === undefined ? {} : { memoryManagerState: memoryState }),
    ...(damagedStates.length > 0 ? { damagedStates } : {}),
  };
}

/** Facts about the files that the configuration names, without their content. */
async function contentsOf(disk: HostDisk, defaulted: JsonObject, except: string | undefined): Promise<Partial<HostFacts>> {
  const { pem, pair, resolvConf } = filesToRead(defaulted);
  const texts = new Map<string, string>();
  for (const path of pem.filter((one) => except === undefined || !one.startsWith(`${except}/`))) {
    const text = await textOf(disk.readLinked(path, MAX_PEM_BYTES));
    if (text !== undefined) texts.set(path, text);
  }
  const [certificates, keys] = pair.map((path) => texts.get(path));
  const matches = certificates === undefined || keys === undefined ? undefined : pairMatches(certificates, keys);
  const resolv = resolvConf.startsWith('/') ? await textOf(disk.readLinked(resolvConf, MAX_PEM_BYTES)) : undefined;
  return {
    ...(texts.size > 0 ? { pem: Object.fromEntries([...texts].map(([path, text]) => [path, pemFacts(text)])) } : {}),
    ...(matches === undefined ? {} : { tlsPairMatches: matches }),
    // A `nameserver` line without an address.
    ...(resolv !== undefined && /^\s*nameserver\s*$/m.test(resolv) ? { damagedResolvConf: [resolvConf] } : {}),
  };
}

async function listeningOf(disk: HostDisk, ownPorts: readonly number[]): Promise<Pick<HostFacts, 'listening'>> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => textOf(disk.read(path))));
  const known = tables.filter((table) => table !== undefined);
  if (known.length === 0) return {};
  return { listening: known.flatMap((table) => listeners(table)).filter(({ port }) => !ownPorts.includes(port)) };
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
    // The kubelet follows links: only reading shows what a link leads to.
    if (stat?.kind !== 'other') return stat?.kind ?? 'missing';
    await disk.readLinked(path);
    return 'file';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'missing' : 'unreadable';
  }
}
