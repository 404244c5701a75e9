import { textsOf, unitFilesOf } from './units.ts';
import { seen } from '../examine.ts';
import { the } from '../check.ts';
import type { CommandLineFacts, ConfigFlag, HostFacts } from '../node/command-line.ts';
import type { NodeLook } from './node-look.ts';
import { commandLineOf, samePlaceAs } from '../../../agent/drift/observe.ts';
import { environmentFilesOf, flagValue } from '../../../agent/host/unit.ts';
import { readDropIns } from '../../../agent/evaluate/node-inputs.ts';

export async function lookAtCommandLine(look: NodeLook): Promise<CommandLineFacts> {
  const { context, options } = look;
  const { disk } = context;
  const isEffective = await samePlaceAs(options, disk);
  const configOf = async (args: readonly string[]): Promise<ConfigFlag> => {
    const path = flagValue('--config', args);
    return path === undefined ? null : { path, isEffective: await isEffective(path) };
  };
  const unit = await look.kubeletUnit();
  const kubelet = await seen(() => look.kubelet());
  return {
    next: await seen(async () => configOf(the(await look.started()).args)),
    running: await seen(async () => {
      const line = await commandLineOf(the(unit)['MainPID'] ?? '', disk);
      return line.length === 0 ? 'none' : configOf(line.slice(1));
    }),
    kubelet,
    dropIns: await seen(() => readDropIns(disk, the(kubelet))),
    sources:
      'seen' in unit
        ? await textsOf(look, [...environmentFilesOf(unit.seen['EnvironmentFiles'] ?? ''), ...unitFilesOf(unit.seen)], true)
        : [],
    effectiveConfig: options.effectiveConfig,
    kubeletUnit: options.kubeletUnit,
  };
}

export async function lookAtHost(look: NodeLook): Promise<HostFacts> {
  const { disk } = look.context;
  const effective = await look.effective();
  return {
    binary: await look.version(),
    told: look.options.kubeletVersion,
    cgroup: await seen(async () => ((await disk.stat('/sys/fs/cgroup/cgroup.controllers')) ? 2 : 1)),
    failCgroupV1: await seen(async () => the(effective).defaulted['failCgroupV1'] === true),
  };
}
