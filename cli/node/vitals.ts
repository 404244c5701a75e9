import type { NodeSide } from './node-side.ts';
import type { Vitals } from '../../agent/admin/status.ts';
import { probeHealth } from '../../agent/trial/health.ts';
import { describeError } from '../../base/errors.ts';
import { LockError } from '../../base/lock.ts';
import type { Context } from '../command.ts';

/** Another `dkc status` that looks at this moment holds the lock for less than this, in ms. */
const LOOK_MS = 100;

/** Whether agent and kubelet of this node are alive. Never throws, and takes a second at most: that long the kubelet is waited for. */
export async function vitalsOf(context: Context, node: NodeSide): Promise<Vitals> {
  const [agent, kubelet] = await Promise.all([agentVitals(context, node), kubeletVitals(context, node)]);
  return { agent, kubelet };
}

/**
 * The agent holds its lock for as long as it runs.
 * @throws LockError where it cannot be told
 */
export async function agentRuns({ locks, disk }: Context, { paths }: NodeSide): Promise<boolean> {
  // Taking a lock makes its file, and a reader makes nothing.
  if (!(await disk.stat(paths.agentLock))) return false;
  try {
    const lock = await locks.take(paths.agentLock, LOOK_MS);
    await lock.release();
    return false;
  } catch (error) {
    if (error instanceof LockError && error.cause === undefined) return true;
    throw error;
  }
}

async function agentVitals(context: Context, node: NodeSide): Promise<Vitals['agent']> {
  try {
    return (await agentRuns(context, node)) ? { alive: true, detail: 'running' } : { alive: false, detail: 'not running' };
  } catch (error) {
    return { alive: null, detail: describeError(error) };
  }
}

async function kubeletVitals({ signal }: Context, { options }: NodeSide): Promise<Vitals['kubelet']> {
  const { kubeletHealthz } = options;
  if (kubeletHealthz === '') return { healthy: null, detail: 'not checked: kubeletHealthz is empty' };
  return probeHealth(kubeletHealthz, signal);
}
