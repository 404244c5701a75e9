import { GROUP, NODE_GROUP } from './names.ts';
import type { Subject } from './rbac.ts';
import type { KubeObject } from '../kube/api/object.ts';

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
const AGENTS = 'dkc-agents';

/** Before `system-nodes` (500), in which the calls of kubelets are. */
const AGENT_PRECEDENCE = 450;
/** Before `service-accounts` (9000), and before the agents. */
const CONTROLLER_PRECEDENCE = 440;

const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'], clusterScope: true, namespaces: ['*'] };

/**
 * Agents have seats of their own for what they ask about `dkc.dev`: all of them coming back at once keep no heartbeat of a kubelet waiting.
 * The controller counts among those of the control plane, as kube-controller-manager does.
 */
export function flowControl(controller: Subject): KubeObject[] {
  const { name, namespace } = controller as Extract<Subject, { kind: 'ServiceAccount' }>;
  return [
    {
      apiVersion: API_VERSION,
      kind: 'PriorityLevelConfiguration',
      metadata: { name: AGENTS },
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 10,
          lendablePercent: 50,
          limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
        },
      },
    },
    schema(AGENTS, AGENTS, AGENT_PRECEDENCE, { kind: 'Group', group: { name: NODE_GROUP } }, { ...everything, apiGroups: [GROUP] }),
    schema(name, 'workload-high', CONTROLLER_PRECEDENCE, { kind: 'ServiceAccount', serviceAccount: { name, namespace } }, everything),
  ];
}

function schema(name: string, level: string, matchingPrecedence: number, subject: object, resources: object): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'FlowSchema',
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [subject], resourceRules: [resources] }],
    },
  };
}
