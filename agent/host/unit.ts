import { dirname, join } from 'node:path';
import type { AgentOptions } from '../options.ts';
import { sha256 } from '../store/content.ts';
import type { AgentWorld } from '../world.ts';

/** The copy that the drop-in makes of the file a kubelet is started with, beside the exits file. */
export const STARTED_FILE = 'kubelet-started.yaml';

/**
 * Whether the kubelet's unit is active, and on the file with this hash: what an old kubelet answers says nothing about a new config.
 * Without a unit there is nobody to ask, so it counts as running.
 */
export async function isRunningOn(
  effectiveSha256: string,
  options: Pick<AgentOptions, 'kubeletUnit' | 'kubeletExits'>,
  { disk, exec }: Pick<AgentWorld, 'disk' | 'exec'>,
): Promise<boolean> {
  if (options.kubeletUnit === '') return true;
  const started = await disk.read(join(dirname(options.kubeletExits), STARTED_FILE)).catch(() => undefined);
  // Without the copy (no drop-in) nobody knows; time and health must do.
  if (started && sha256(started) !== effectiveSha256) return false;
  const { code, stdout } = await exec('systemctl', ['show', '-P', 'ActiveState', '--', options.kubeletUnit]);
  return code === null || ['active', 'reloading', ''].includes(stdout.trim());
}
