import { basename } from 'node:path';
import { seen, the, Unseen } from '../check.ts';
import { DROP_IN, type DropInFacts } from '../node/drop-ins.ts';
import { syncPath, type UnitFacts } from '../node/units.ts';
import type { NodeInspector } from './node-inspector.ts';
import { environmentFilesOf, flagInArgs, propertiesOf } from '../../../agent/host/unit.ts';
import { ActionError } from '../../../base/errors.ts';
import type { Ran } from '../../../base/exec.ts';
import type { Context } from '../../command.ts';
import type { CommandLineFacts, ConfigFlag, HostFacts } from '../node/command-line.ts';
import { commandLineOf, samePlaceAs } from '../../../agent/drift/observe.ts';
import { readDropIns } from '../../../agent/evaluate/node-inputs.ts';
import type { Listening, PortFacts } from '../node/ports.ts';
import { serversOfKubelet } from '../../../agent/config/config.ts';
import { listeningSockets } from '../../../agent/host/facts.ts';

/** Maximum size of a unit file or environment file, in bytes. */
const LARGEST = 256 * 1024;
/** Path of the packaged drop-in for kubelet.service. */
const PACKAGED = `/usr/lib/systemd/system/kubelet.service.d/${DROP_IN}`;
/** Maximum number of files read for one unit. */
const MAX_FILES = 100;

export async function inspectUnits(inspector: NodeInspector): Promise<UnitFacts> {
  const { context, options } = inspector;
  const [systemd, agent, kubelet, uptimeS] = await Promise.all([
    seen(async () => Number(/^systemd (\d+)/.exec(await outputOf(context, 'systemctl', ['--version']))?.[1])),
    seen(() => unitProperties(context, 'dkc-agent.service')),
    inspector.kubeletUnit(),
    seen(async () => Number(new TextDecoder().decode(await context.disk.read('/proc/uptime')).split(' ')[0])),
  ]);
  const hasSync = await seen(async () => {
    const path = syncPath(the(agent));
    return path !== undefined && (await context.disk.stat(path)) !== undefined;
  });
  return { systemd, agent, kubelet, kubeletUnit: options.kubeletUnit, uptimeS, hasSync };
}

export async function inspectDropIns(inspector: NodeInspector): Promise<DropInFacts> {
  const { context, options } = inspector;
  const { kubeletUnit, effectiveConfig } = options;
  const unit = await inspector.kubeletUnit();
  const places = ['/etc', '/run', '/usr/lib', '/lib'].map((dir) => `${dir}/systemd/system/${kubeletUnit}.d/${DROP_IN}`);
  const there = await Promise.all(places.map((path) => context.disk.stat(path).catch(() => undefined)));
  return {
    files: await seen(() => textsOf(inspector, unitFilesOf(the(unit)), false)),
    environmentFiles: await seen(() => textsOf(inspector, environmentFilesOf(the(unit)['EnvironmentFiles'] ?? ''), true)),
    isLoaded: await seen(async () => the(unit)['LoadState'] === 'loaded'),
    packaged: await seen(async () => (await textsOf(inspector, [PACKAGED], true))[0]),
    onDisk: places.filter((_, at) => there[at] !== undefined),
    kubeletUnit,
    effectiveConfig,
  };
}

/** The unit file, then its drop-ins in the order in which systemd applies them. */
function unitFilesOf({ FragmentPath = '', DropInPaths = '' }: Readonly<Record<string, string>>): string[] {
  return [FragmentPath, ...DropInPaths.split(' ')].filter((path) => path !== '' && basename(path) !== '');
}

/** @param optional - skip files that cannot be read */
async function textsOf({ context }: NodeInspector, paths: readonly string[], optional: boolean): Promise<{ path: string; text: string }[]> {
  const texts: { path: string; text: string }[] = [];
  for (const path of paths.slice(0, MAX_FILES)) {
    try {
      texts.push({ path, text: new TextDecoder().decode(await context.disk.readLinked(path, LARGEST)) });
    } catch (error) {
      if (!optional) throw error;
    }
  }
  return texts;
}

/** Properties of a unit by name, as `systemctl show` prints them. */
export type Properties = Readonly<Record<string, string>>;

const NAMES =
  'LoadState UnitFileState ActiveState SubState Result MainPID NRestarts Restart NeedDaemonReload StartLimitIntervalUSec StartLimitBurst ' +
  'ActiveEnterTimestampMonotonic FragmentPath DropInPaths ExecStart ExecStartPre ExecStartPost Environment EnvironmentFiles';
const PROPERTIES = NAMES.split(' ');
const TIMEOUT_MS = 5000;

/** @throws ActionError if systemd does not respond */
export async function unitProperties(context: Pick<Context, 'exec' | 'signal'>, unit: string): Promise<Properties> {
  const stdout = await outputOf(context, 'systemctl', ['show', ...PROPERTIES.flatMap((name) => ['-p', name]), '--', unit]);
  const property = propertiesOf(stdout);
  return Object.fromEntries(PROPERTIES.map((name) => [name, property(name)]));
}

/** Output of a program of systemd. @throws ActionError if it is missing, times out or fails */
export async function outputOf(
  { exec, signal }: Pick<Context, 'exec' | 'signal'>,
  program: string,
  args: readonly string[],
): Promise<string> {
  const ran = await exec(program, args, { timeoutMs: TIMEOUT_MS, signal });
  if (ran.code === 0) return ran.stdout;
  throw new ActionError('ask', program, { hint: whyNot(ran) });
}

function whyNot({ code, stderr }: Ran): string {
  if (code !== null) return stderr.trim().split('\n')[0] || `it exited with ${code}`;
  return stderr.includes('ENOENT') ? 'it is not installed' : `no answer within ${TIMEOUT_MS / 1000} s`;
}

export async function inspectCommandLine(inspector: NodeInspector): Promise<CommandLineFacts> {
  const { context, options } = inspector;
  const { disk } = context;
  const isEffective = await samePlaceAs(options, disk);
  const configOf = async (args: readonly string[]): Promise<ConfigFlag> => {
    const path = flagInArgs('--config', args);
    return path === undefined ? null : { path, isEffective: await isEffective(path) };
  };
  const unit = await inspector.kubeletUnit();
  const kubelet = await seen(() => inspector.kubelet());
  return {
    next: await seen(async () => configOf(the(await inspector.started()).args)),
    running: await seen(async () => {
      const line = await commandLineOf(the(unit)['MainPID'] ?? '', disk);
      return line.length === 0 ? 'none' : configOf(line.slice(1));
    }),
    kubelet,
    dropIns: await seen(() => readDropIns(disk, the(kubelet))),
    sources:
      'seen' in unit
        ? await textsOf(inspector, [...environmentFilesOf(unit.seen['EnvironmentFiles'] ?? ''), ...unitFilesOf(unit.seen)], true)
        : [],
    effectiveConfig: options.effectiveConfig,
    kubeletUnit: options.kubeletUnit,
  };
}

export async function inspectHost(inspector: NodeInspector): Promise<HostFacts> {
  const { disk } = inspector.context;
  const effective = await inspector.effective();
  return {
    binary: await inspector.version(),
    configured: inspector.options.kubeletVersion,
    cgroup: await seen(async () => ((await disk.stat('/sys/fs/cgroup/cgroup.controllers')) ? 2 : 1)),
    failCgroupV1: await seen(async () => the(effective).defaulted['failCgroupV1'] === true),
  };
}

/** Maximum number of open files examined per process. */
const MAX_OPEN_FILES = 20_000;

export async function inspectPorts(inspector: NodeInspector): Promise<PortFacts> {
  const { context, options, host } = inspector;
  const unit = await inspector.kubeletUnit();
  const effective = await inspector.effective();
  return {
    kubeletUnit: options.kubeletUnit === '' ? 'kubelet' : options.kubeletUnit,
    kubelet: await seen(async () => {
      const { defaulted, kubelet } = the(effective);
      return serversOfKubelet(defaulted, kubelet);
    }),
    listening: await seen(() => listeningFor(inspector, the(unit)['MainPID'] ?? '')),
    healthz: options.kubeletHealthz,
    health: await seen(() => host.probe(options.kubeletHealthz, context.signal)),
    metrics: options.metricsBindAddress,
    listeningOfAgent: await seen(async () =>
      listeningFor(inspector, (await unitProperties(context, 'dkc-agent.service'))['MainPID'] ?? ''),
    ),
  };
}

/** All listening sockets, and which of them belong to this process; '0': no process. @throws Unseen if this user may not read its open files */
async function listeningFor(inspector: NodeInspector, pid: string): Promise<Listening[]> {
  const { disk } = inspector.context;
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => disk.read(path).catch(() => new Uint8Array())));
  const own = /^[1-9]\d*$/.test(pid) ? await socketsOf(inspector, pid) : new Set<string>();
  return tables
    .flatMap((table) => listeningSockets(new TextDecoder().decode(table)))
    .map(({ inode, ...rest }) => ({ ...rest, isOwn: own.has(inode) }));
}

async function socketsOf({ context, host }: NodeInspector, pid: string): Promise<Set<string>> {
  const names = await context.disk.list(`/proc/${pid}/fd`);
  if (names.length > MAX_OPEN_FILES) throw new Unseen(`process ${pid} has more than ${MAX_OPEN_FILES} open files`);
  const found = new Set<string>();
  for (const name of names) {
    const inode = /^socket:\[(\d+)\]$/.exec(await host.link(`/proc/${pid}/fd/${name}`).catch(() => ''))?.[1];
    if (inode !== undefined) found.add(inode);
  }
  return found;
}
