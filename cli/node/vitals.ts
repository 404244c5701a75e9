import { describeError } from '../../base/errors.ts';
import { nodes } from '../../kube/api/object.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { fleetNode } from '../../controllers/fleet/read-fleet-node.ts';
import { probeHealth } from '../../agent/trial/health.ts';
import { LockError } from '../../base/lock.ts';
import type { ApiView, Vitals } from '../../agent/admin/status.ts';
import type { Context } from '../command.ts';
import type { NodeSide } from './node-side.ts';

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

// Who asks at night wants the disk's answer now, whatever the network does.
const MAX_WAIT_MS = 5000;

/** What the API server says about this node, in its NodeConfig where it has one and else in its Node, or why it could not be asked: never an error, since the disk's answer stands without it. */
export async function askApi(context: Context, kubeconfig: string, node: string): Promise<ApiView | string> {
  try {
    const client = await context.connect({ kubeconfig });
    try {
      const options = { timeoutMs: MAX_WAIT_MS, signal: context.signal };
      const nodeConfig = client.get(nodeConfigs, { name: node }, options).catch(noneOrThrow);
      const [object, config] = await Promise.all([client.get(nodes, { name: node }, options), nodeConfig]);
      const { assigned, active, lastKnownGood, error } = fleetNode(object, config);
      return { assigned, active, lastKnownGood, error };
    } finally {
      await client.close();
    }
  } catch (error) {
    return `request failed: ${describeError(error)}`;
  }
}

/** Not there, not served, or not for this user. */
function noneOrThrow(error: unknown): undefined {
  if (!isNotFound(error) && !isForbidden(error)) throw error;
}
