import type { ApiView } from '../../agent/admin/status.ts';
import type { MaybeSource } from '../../agent/checkpoint/source.ts';
import { describeError } from '../../base/errors.ts';
import { nodes } from '../../kube/api/object.ts';
import type { Context } from '../command.ts';

// Who asks at night wants the disk's answer now, whatever the network does.
const MAX_WAIT_MS = 5000;

/** What the API server says about this node, or why it could not be asked: never an error, since the disk's answer stands without it. */
export async function askApi(context: Context, kubeconfig: string, node: string): Promise<ApiView | string> {
  try {
    const client = await context.connect({ kubeconfig });
    try {
      const object = await client.get(nodes, { name: node }, { timeoutMs: MAX_WAIT_MS, signal: context.signal });
      return readConfigStatus(object['status']);
    } finally {
      await client.close();
    }
  } catch (error) {
    return `request failed: ${describeError(error)}`;
  }
}

/** `status.config` of a Node, as far as it can be read; what is absent is local. */
export function readConfigStatus(status: unknown): ApiView {
  const config = member(status, 'config');
  const error = member(config, 'error');
  return {
    assigned: readSource(member(config, 'assigned')),
    active: readSource(member(config, 'active')),
    lastKnownGood: readSource(member(config, 'lastKnownGood')),
    error: typeof error === 'string' && error !== '' ? error : null,
  };
}

function readSource(value: unknown): MaybeSource {
  const configMap = member(value, 'configMap');
  if (configMap === undefined) return null;
  const text = (name: string): string => {
    const part = member(configMap, name);
    return typeof part === 'string' ? part : '';
  };
  return {
    namespace: text('namespace'),
    name: text('name'),
    uid: text('uid'),
    resourceVersion: text('resourceVersion'),
    kubeletConfigKey: text('kubeletConfigKey'),
  };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Record<string, unknown>)[name] ?? undefined;
}
