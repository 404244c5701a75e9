import { basename } from 'node:path';
import { seen } from '../examine.ts';
import { the } from '../check.ts';
import { DROP_IN, type DropInFacts } from '../node/drop-ins.ts';
import type { UnitFacts } from '../node/units.ts';
import type { NodeLook } from './node-look.ts';
import { systemdSays, unitProperties } from './systemctl.ts';
import { environmentFilesOf } from '../../../agent/host/command-line.ts';

/** A unit file or an environment file that is larger is none. */
const LARGEST = 256 * 1024;
/** Where packages put the drop-in of a kubelet with the usual name. */
const PACKAGED = `/usr/lib/systemd/system/kubelet.service.d/${DROP_IN}`;
/** Files of one unit that are read. */
const MAX_FILES = 100;

export async function lookAtUnits(look: NodeLook): Promise<UnitFacts> {
  const { context, options } = look;
  const [systemd, agent, kubelet, uptimeS] = await Promise.all([
    seen(async () => Number(/^systemd (\d+)/.exec(await systemdSays(context, 'systemctl', ['--version']))?.[1])),
    seen(() => unitProperties(context, 'dkc-agent.service')),
    look.kubeletUnit(),
    seen(async () => Number(new TextDecoder().decode(await context.disk.read('/proc/uptime')).split(' ')[0])),
  ]);
  return { systemd, agent, kubelet, kubeletUnit: options.kubeletUnit, uptimeS };
}

export async function lookAtDropIns(look: NodeLook): Promise<DropInFacts> {
  const { context, options } = look;
  const { kubeletUnit, effectiveConfig } = options;
  const unit = await look.kubeletUnit();
  const places = ['/etc', '/run', '/usr/lib', '/lib'].map((dir) => `${dir}/systemd/system/${kubeletUnit}.d/${DROP_IN}`);
  const there = await Promise.all(places.map((path) => context.disk.stat(path).catch(() => undefined)));
  return {
    files: await seen(() => textsOf(look, unitFilesOf(the(unit)), false)),
    environmentFiles: await seen(() => textsOf(look, environmentFilesOf(the(unit)['EnvironmentFiles'] ?? ''), true)),
    isLoaded: await seen(async () => the(unit)['LoadState'] === 'loaded'),
    packaged: await seen(async () => (await textsOf(look, [PACKAGED], true))[0]),
    onDisk: places.filter((_, at) => there[at] !== undefined),
    kubeletUnit,
    effectiveConfig,
  };
}

/** The unit itself, then its drop-ins in the order of systemd. */
export function unitFilesOf({ FragmentPath = '', DropInPaths = '' }: Readonly<Record<string, string>>): string[] {
  return [FragmentPath, ...DropInPaths.split(' ')].filter((path) => path !== '' && basename(path) !== '');
}

/** @param optional - those that cannot be read are left out */
export async function textsOf(
  { context }: NodeLook,
  paths: readonly string[],
  optional: boolean,
): Promise<{ path: string; text: string }[]> {
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
