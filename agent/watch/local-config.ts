import { dirname } from 'node:path';
import { effectiveOfLocal, type LocalConfig, localProblem, parseLocal } from '../evaluate/local.ts';
import type { AgentContext, AgentOptions, AgentWorld } from '../options.ts';
import { sha256 } from '../checkpoint/payload.ts';
import { describeError, errorCode } from '../../base/errors.ts';

/** Many editors and installers write a file in several steps: what is read this long after a change, in ms, is most likely whole. */
const SETTLES_MS = 300;

export interface LocalWatchDeps extends Pick<AgentContext, 'kubelet'> {
  options: Pick<AgentOptions, 'localConfig' | 'merge'>;
  world: Pick<AgentWorld, 'clock' | 'log'> & { disk: Pick<AgentWorld['disk'], 'readLinked'> };
  configState: Pick<AgentContext['configState'], 'active'>;
  shutdown: Pick<AgentContext['shutdown'], 'leave' | 'signal'>;
}

/**
 * What a change of the local config asks for: another start where the effective file is made of it, another look at what policy refused
 * elsewhere. A local config that is gone or broken changes nothing: the file the kubelet has is better.
 * @param onProblem - called after each look with what is wrong with the local config, null when nothing
 * @returns to be called after each change
 */
export function localConfigWatch(
  { options, world, configState, shutdown, kubelet }: LocalWatchDeps,
  onOther: () => void,
  onProblem: (problem: string | null) => void = () => {},
): () => Promise<void> {
  const { disk, clock, log } = world;
  let known: string | undefined;
  /** The last one that could be used. One that was gone for a while, or not there yet, is a change all the same. */
  let usable: string | undefined;
  /** What the first look finds is what boot found. */
  let first = true;
  const look = async (): Promise<void> => {
    const bytes = await disk.readLinked(options.localConfig).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT')
        log.warn('local config cannot be read', { path: options.localConfig, error: describeError(error) });
      return undefined;
    });
    const before = known;
    const asBooted = first;
    first = false;
    known = bytes && sha256(bytes);
    const problemOf = (local: LocalConfig): string | null =>
      localProblem(options.localConfig, local, configState.active.effectiveSha256 !== '');
    if (bytes === undefined && !asBooted) onProblem(problemOf({ at: 'missing' }));
    if (bytes === undefined || known === before) return;
    const local = parseLocal(bytes, dirname(options.localConfig), kubelet.version);
    onProblem(problemOf(local));
    if (local.at !== 'present') {
      log.warn('local config changed and cannot be used; the effective file stays', { path: options.localConfig });
      return;
    }
    const isOther = known !== usable && !asBooted;
    usable = known;
    const { used, effectiveSha256 } = configState.active;
    if (used === 'local' && sha256(effectiveOfLocal(local)) !== effectiveSha256) await shutdown.leave('the local config changed');
    else if (used !== 'local' && options.merge === 'overlay' && isOther) await shutdown.leave('the local config under the overlay changed');
    else onOther();
  };
  return async () => {
    await clock.sleep(SETTLES_MS, shutdown.signal).catch(() => {});
    if (!shutdown.signal.aborted) await look();
  };
}
