import { type Carrier, type CarrierHandlers, failedWatch, type Reported } from './reporter.ts';
import type { ConfigStatus } from './node-config-state.ts';
import { keeps, nodePatch, wantedOf } from './node-status.ts';
import { type KubeObject, nodes } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { type WatchDeps, watchObject } from '../../kube/client/watch-object.ts';

export interface Node extends KubeObject {
  spec?: { configSource?: unknown };
  status?: { config?: unknown; nodeInfo?: { kubeletVersion?: string } };
}

export interface NodeCarrierDeps extends WatchDeps {
  client: Pick<Client, 'list' | 'watch' | 'patch'>;
  nodeName: string;
  configmapNamespace: string;
  /** The agent's version. */
  version: string;
  /** Called with every Node that the watch delivers, before the handlers. */
  onNode?: (node: Node | undefined) => void;
}

export interface NodeCarrier extends Carrier {
  watch(handlers: CarrierHandlers, signal: AbortSignal): Promise<void>;
  /** @param how - `noteOnly`: write the annotation only; `isOnlyStatus`: no other object has the node's status, so the annotation has it */
  report(
    picture: ConfigStatus,
    signal: AbortSignal,
    how?: { noteOnly?: boolean; isOnlyStatus?: boolean; isComplete?: boolean },
  ): Promise<Reported & { probed?: boolean }>;
}

/** Upstream's fields: `Node.spec.configSource` and `Node.status.config`, kept by API servers up to 1.25 with the gate on. */
export function nodeCarrier(deps: NodeCarrierDeps): NodeCarrier {
  let seen: Node | undefined;
  let dropped: string | undefined;
  const { client, nodeName, configmapNamespace, version, log } = deps;
  return {
    name: 'node',
    watch: (handlers, signal) => {
      let wanted = '';
      return watchObject<Node>(
        deps,
        nodes,
        { name: nodeName },
        {
          onSeen: ({ object }) => {
            seen = object;
            deps.onNode?.(object);
            const version = object?.status?.nodeInfo?.kubeletVersion;
            if (version) handlers.onKubeletVersion?.(version);
            // A deleted Node clears nothing: the next start of its kubelet creates it again.
            if (!object) log.warn('the API server has no such Node', { node: nodeName });
            const now = object ? wantedOf(object.spec?.configSource, configmapNamespace) : noNode(nodeName);
            if (JSON.stringify(now) !== wanted) handlers.onWanted(now);
            wanted = JSON.stringify(now);
            handlers.onSeen();
          },
          onFailure: failedWatch(log, 'Node', nodeName, handlers),
        },
        signal,
      );
    },
    report: async (picture, signal, { noteOnly = false, isOnlyStatus = false } = {}) => {
      if (!seen) return { sent: false, kept: true };
      const patch = nodePatch(seen, picture, version, isOnlyStatus);
      if (!patch) return { sent: false, kept: true };
      // A server that drops the fields answers 200 every time: patch again only when the status has changed.
      const { status, ...note } = patch;
      const isDropped = noteOnly || (status !== undefined && dropped === JSON.stringify(status));
      if (isDropped && Object.keys(note).length === 0) return { sent: false, kept: noteOnly };
      const before = seen;
      const change = isDropped ? note : patch;
      const answer = await client.patch<Node>(nodes, { name: nodeName }, change, { type: 'strategic', subresource: 'status', signal });
      // A watch event that arrived during the request may be newer than the response.
      if (seen === before) seen = answer;
      if (isDropped) return { sent: false, noted: true, kept: noteOnly };
      const kept = keeps(answer.status?.config, patch);
      dropped = kept ? undefined : JSON.stringify(status);
      return { sent: true, kept, ...(status === undefined ? {} : { probed: kept }) };
    },
  };
}

const noNode = (name: string) => ({ at: 'invalid', problem: `Node ${name} does not exist` }) as const;
