import { failedWatch, type Reported } from './reporter.ts';
import { keepsMembers } from './node-status.ts';
import { type NodeConfig, type NodeConfigFacts, nodeConfigPatch, nodeConfigs, wantedOfNodeConfig } from './node-config.ts';
import type { ConfigStatus } from './node-config-state.ts';
import type { Wanted } from '../sync/plan.ts';
import { backoff } from '../../base/waiting.ts';
import type { Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { type Client, servesResource } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { type WatchDeps, watchObject } from '../../kube/client/watch-object.ts';

export interface NodeConfigCarrierDeps extends WatchDeps {
  client: Pick<Client, 'list' | 'watch' | 'patch' | 'raw'>;
  nodeName: string;
  configmapNamespace: string;
}

export interface NodeConfigHandlers {
  /** Called with the NodeConfig's assignment, or why it cannot be read. */
  onState(state: Wanted | 'unserved' | 'forbidden'): void;
  /** Called for every list and watch event of the object. */
  onSeen(): void;
  onFailure?(text: string): void;
  /** Called with the server's `gitVersion`, as `v1.36.3`; '' where unknown. Before the first state, and at each discovery of the kind. */
  onVersion(version: string): void;
  /** Time until the next discovery of the kind, in ms. */
  pollMs(): Millis;
}

export interface NodeConfigCarrier {
  /** Watches until the signal aborts, also while the CustomResourceDefinition is deleted and created again. */
  watch(handlers: NodeConfigHandlers, signal: AbortSignal): Promise<void>;
  /** Whether the object exists, as last seen. */
  exists(): boolean;
  /** Writes the status where it differs from the last seen status. @throws ApiError (a conflict where the object is newer than the seen one), TransportError */
  report(picture: ConfigStatus, facts: NodeConfigFacts, signal: AbortSignal): Promise<Reported>;
}

const limits = { base: 1000, cap: 30_000 };
/** Longest text of a server's version that is kept, in characters. */
const MAX_VERSION = 64;

/** The NodeConfig: `spec.configMap` assigns, `status` reports. The agent writes only the status; `dkc assign` creates the object. */
export function nodeConfigCarrier(deps: NodeConfigCarrierDeps): NodeConfigCarrier {
  let seen: NodeConfig | undefined;
  /** The status of the last patch of which the server dropped fields: its CustomResourceDefinition is older than this agent. */
  let dropped: string | undefined;
  const { client, nodeName, configmapNamespace, clock, random, log } = deps;

  /** Resolves when the kind is no longer served, or the signal aborts. */
  const watchServed = async (handlers: NodeConfigHandlers, signal: AbortSignal): Promise<void> => {
    const gone = new AbortController();
    const onFailure = failedWatch(log, 'NodeConfig', nodeName, handlers);
    await watchObject<NodeConfig>(
      deps,
      nodeConfigs,
      { name: nodeName },
      {
        onSeen: ({ object }) => {
          seen = object;
          handlers.onState(object ? wantedOfNodeConfig(object, configmapNamespace) : { at: 'absent' });
          handlers.onSeen();
        },
        onFailure: (error, failures) => {
          if (isNotFound(error)) return gone.abort();
          if (isForbidden(error)) {
            seen = undefined;
            handlers.onState('forbidden');
          }
          onFailure(error, failures);
        },
      },
      AbortSignal.any([signal, gone.signal]),
    );
    seen = undefined;
  };

  return {
    exists: () => seen !== undefined,
    watch: async (handlers, signal) => {
      for (let failures = 0; !signal.aborted;) {
        let wait: Millis;
        try {
          handlers.onVersion(await versionOf(client, signal));
          const served = await servesResource(client, nodeConfigs, signal);
          failures = 0;
          if (served) await watchServed(handlers, signal);
          if (signal.aborted) return;
          // A deleted definition may be created again at once: report `unserved` only if discovery does not find the kind.
          if (!served) handlers.onState('unserved');
          wait = served ? limits.base : handlers.pollMs() * (0.9 + random() * 0.2);
        } catch (error) {
          if (signal.aborted) return;
          failures += 1;
          log[failures === 1 ? 'warn' : 'debug']('failed to discover nodeconfigs.dkc.dev, retrying', { failures, error });
          handlers.onFailure?.(describeError(error));
          wait = backoff(failures, limits, random);
        }
        await clock.sleep(wait, signal).catch(() => {});
      }
    },
    report: async (picture, facts, signal) => {
      if (!seen) return { sent: false, kept: true };
      const patch = nodeConfigPatch(seen, picture, facts);
      if (!patch || JSON.stringify(patch.status) === dropped) return { sent: false, kept: true };
      const before = seen;
      const answer = await client.patch<NodeConfig>(nodeConfigs, { name: nodeName }, patch, {
        type: 'merge',
        subresource: 'status',
        signal,
      });
      // A watch event that arrived during the request may be newer than the response.
      if (seen === before) seen = answer;
      dropped = keepsMembers(answer.status, patch.status) ? undefined : JSON.stringify(patch.status);
      return { sent: true, kept: true };
    },
  };
}

async function versionOf(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<string> {
  try {
    const info = await client.raw('GET', '/version', { signal });
    return isJsonObject(info) && typeof info['gitVersion'] === 'string' ? info['gitVersion'].slice(0, MAX_VERSION) : '';
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return '';
    throw error;
  }
}
