import { chooseCarrier, nativeSupport, type Choice } from './choose-carrier.ts';
import type { ConfigStatus } from './node-config-state.ts';
import type { NodeConfigFacts } from './node-config.ts';
import { nodeCarrier } from './node-carrier.ts';
import { nodeConfigCarrier } from './node-config-carrier.ts';
import type { Carrier, CarrierHandlers, Reported } from './reporter.ts';
import type { Wanted } from '../sync/plan.ts';
import { rfc3339, type Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { WatchDeps } from '../../kube/client/watch-object.ts';

export interface AssignmentCarrierDeps extends WatchDeps {
  client: Pick<Client, 'list' | 'watch' | 'patch' | 'raw'>;
  nodeName: string;
  configmapNamespace: string;
  /** The agent's version. */
  version: string;
  mode: 'auto' | 'nodeconfig';
  /** The kind of object that assigned a config last, from active.json. */
  assignedBy: 'node' | 'nodeconfig' | undefined;
}

/** How often to check whether the server serves NodeConfig, in ms: while no object can assign, and while the Node assigns. */
const POLL_WITHOUT_MS: Millis = 60_000;
const POLL_BESIDE_NODE_MS: Millis = 300_000;
/** Pause after a 403 for the annotation of a Node whose status a NodeConfig has. */
const FORBIDDEN_PAUSE_MS: Millis = 300_000;

/** Node and NodeConfig together: watches both, follows the one that {@link chooseCarrier} chooses, and reports on every one that exists. */
export function assignmentCarrier(deps: AssignmentCarrierDeps): Carrier {
  const { clock, log, nodeName, mode } = deps;
  let assignedBy = deps.assignedBy;
  let serverVersion = '';
  const node = { wanted: undefined as Wanted | undefined, uid: '', hasConfig: false, kubeletVersion: '' };
  let nodeConfigSays: Wanted | 'unserved' | 'forbidden' | undefined;
  /** Whether the server kept a `status.config` when this Node had none; undefined before it was tried. */
  let probed: boolean | undefined;
  /** The server forbade the last annotation of the Node, beside a NodeConfig: until when, by the monotonic clock, none is sent. */
  let forbiddenUntil: Millis | undefined;
  let choice: Choice | undefined;
  let handlers: CarrierHandlers | undefined;

  const byNode = nodeCarrier({
    ...deps,
    onNode: (object) => {
      const { uid = '' } = object?.metadata ?? {};
      // The Node was created again, perhaps on an upgraded server: the earlier probe results do not apply.
      if (object && uid !== node.uid) [node.uid, probed, forbiddenUntil] = [uid, undefined, undefined];
      node.hasConfig = isJsonObject(object?.status?.config);
      node.kubeletVersion = object?.status?.nodeInfo?.kubeletVersion ?? node.kubeletVersion;
    },
  });
  const byNodeConfig = nodeConfigCarrier(deps);

  const nativeNow = () => nativeSupport(serverVersion, node.hasConfig, probed);

  const decide = (): void => {
    const next = chooseCarrier({
      nodeName,
      mode,
      node: node.wanted,
      nodeConfig: nodeConfigSays,
      native: nativeNow(),
      serverVersion,
      assignedBy,
    });
    if (!next) return;
    const before = choice;
    choice = next;
    if (next.wanted.at !== 'absent' && next.carrier !== null) assignedBy = next.carrier;
    if (before?.carrier !== next.carrier || before.why !== next.why || before.missing !== next.missing) handlers?.onChosen?.(next);
    if (JSON.stringify(before?.wanted) !== JSON.stringify(next.wanted)) handlers?.onWanted(next.wanted);
  };

  const reportOnNode = async (picture: ConfigStatus, signal: AbortSignal): Promise<Reported> => {
    if (!choice) return { sent: false, kept: true };
    // The NodeConfig has the status: without the annotation on the Node nothing is missing.
    const isOptional = choice.carrier !== 'node' && byNodeConfig.exists();
    if (isOptional && forbiddenUntil !== undefined && clock.monotonic() < forbiddenUntil) return { sent: false, kept: true };
    const isProbe = nativeNow() === 'unknown' && !byNodeConfig.exists();
    const hasFields = mode === 'auto' && (node.hasConfig || choice.carrier === 'node' || isProbe);
    // Where a NodeConfig has the status, the annotation only shows that an agent exists; without one it also has the node's config.
    const isOnlyStatus = !hasFields && !byNodeConfig.exists();
    const shown = hasFields || isOnlyStatus ? picture : { ...picture, trial: null };
    try {
      const reported = await byNode.report(shown, signal, { noteOnly: !hasFields, isOnlyStatus });
      if (reported.probed !== undefined && reported.probed !== probed) {
        probed = reported.probed;
        decide();
      }
      forbiddenUntil = undefined;
      return reported;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (isProbe) {
        // Assume that a server of that version keeps the fields, as most do.
        probed = true;
        decide();
      }
      // An admission webhook answers 403 too, and both it and RBAC may be changed at any time: retried either way.
      if (!isOptional) throw error;
      log[forbiddenUntil === undefined ? 'info' : 'debug']('not allowed to patch the status of the Node', { node: nodeName, error });
      forbiddenUntil = clock.monotonic() + FORBIDDEN_PAUSE_MS;
      return { sent: false, kept: true };
    }
  };

  return {
    name: mode,
    watch: async (given, signal) => {
      handlers = given;
      await Promise.all([
        byNode.watch(
          {
            ...given,
            onWanted: (wanted) => {
              node.wanted = wanted;
              decide();
            },
          },
          signal,
        ),
        byNodeConfig.watch(
          {
            onState: (state) => {
              nodeConfigSays = state;
              decide();
            },
            onVersion: (version) => (serverVersion = version),
            onSeen: () => given.onSeen(),
            onFailure: (text) => given.onFailure?.(text),
            pollMs: () => (choice?.carrier === 'node' ? POLL_BESIDE_NODE_MS : POLL_WITHOUT_MS),
          },
          signal,
        ),
      ]);
    },
    report: async (picture, signal, { isComplete }) => {
      const now = rfc3339(clock.now());
      const facts: NodeConfigFacts = {
        agentVersion: deps.version,
        kubeletVersion: node.kubeletVersion,
        health: picture.health ?? { at: 'unknown' },
        now,
        isBehind: !isComplete,
      };
      const onNodeConfig = await byNodeConfig.report(picture, facts, signal);
      const onNode = await reportOnNode(picture, signal);
      const { noted = false } = onNode;
      return { sent: onNodeConfig.sent || onNode.sent, noted, kept: choice?.carrier !== 'node' || onNode.kept };
    },
  };
}
