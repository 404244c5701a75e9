import { dirname } from 'node:path';
import { seen } from '../examine.ts';
import type { DiskFacts } from '../node/disk.ts';
import type { SettingsFacts } from '../node/settings.ts';
import type { NodeLook } from './node-look.ts';
import { readPolicy } from '../../../agent/evaluate/node-inputs.ts';
import { readOnlyPaths } from '../../../agent/host/facts.ts';
import { DEFAULT_POLICY_FILE } from '../../../agent/options.ts';

export async function lookAtDisk({ context, options, host }: NodeLook): Promise<DiskFacts> {
  const { disk } = context;
  const { dynamicConfigDir, effectiveConfig, kubeletExits } = options;
  const run = dirname(kubeletExits);
  const places = [...new Set([dynamicConfigDir, dirname(effectiveConfig)])];
  return {
    free: await Promise.all([...places, run].map(async (path) => ({ path, is: await seen(() => host.free(path)) }))),
    readOnly: await seen(async () => readOnlyPaths(new TextDecoder().decode(await disk.read('/proc/self/mountinfo')), places)),
    isVolatile: await seen(async () => (await disk.stat(`${run}/kubelet.env`)) !== undefined),
    effectiveConfig,
  };
}

export async function lookAtSettings({ context, options, settingsFile, settingsProblem }: NodeLook): Promise<SettingsFacts> {
  const { disk } = context;
  const policy = options.policy ?? DEFAULT_POLICY_FILE;
  return {
    file: settingsFile,
    problem: { seen: settingsProblem },
    isThere: await seen(async () => (await disk.stat(settingsFile)) !== undefined),
    policyProblem: await seen(async () => (await readPolicy(options.policy, disk)).problem),
    policyFile: policy,
    hasPolicy: await seen(async () => policy !== 'none' && (await disk.stat(policy)) !== undefined),
  };
}
