import { lookAtKubeconfig } from './credentials.ts';
import { systemdSays } from './systemctl.ts';
import { seen } from '../examine.ts';
import { the, Unseen, type Known } from '../check.ts';
import type { CredentialFacts } from '../node/credentials.ts';
import type { ServerFacts } from '../node/server.ts';
import type { NodeLook } from './node-look.ts';
import { missingRights, rightsIn, type Right } from '../../process/check-rights.ts';
import { EVENT_NAMESPACE } from '../../../agent/events/event.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import type { AgentOptions } from '../../../agent/options.ts';
import { serverFacts } from '../../../controllers/fleet/server-facts.ts';
import { nodes } from '../../../kube/api/object.ts';
import { isForbidden, isNotFound } from '../../../kube/client/errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { describeError } from '../../../base/errors.ts';

/** Longest wait for one answer, in ms. */
const REQUEST_MS = 5000;

export async function lookAtCredentials(look: NodeLook): Promise<CredentialFacts> {
  return (await ofAgent(look)).facts;
}

/** Settings that cannot be read do not say that there is no kubeconfig. */
function ofAgent({ context, options, settingsProblem }: NodeLook): ReturnType<typeof lookAtKubeconfig> {
  const { kubeconfig } = options;
  const unknown = settingsProblem !== undefined && kubeconfig === undefined;
  return lookAtKubeconfig(unknown ? { unseen: 'the settings cannot be read' } : { seen: kubeconfig }, context.env, context.clock.now());
}

export async function lookAtServer(look: NodeLook, signal: AbortSignal): Promise<ServerFacts> {
  const { context, options, host } = look;
  const { nodeName, kubeconfig, assignment } = options;
  const { access } = await ofAgent(look);
  const client = await seen(async () => {
    the(access);
    return context.connect({ ...(kubeconfig === undefined ? {} : { kubeconfig }), requestTimeoutMs: REQUEST_MS });
  });
  try {
    const server = await seen(async () => orProblem(serverFacts(the(client), signal)));
    /** The others are not asked for longer than it takes to find out that there is no answer. */
    const asked = (): Client => {
      if ('problem' in the(server)) throw new Unseen('the API server does not answer');
      return the(client);
    };
    const [node, missing, hello, isSynchronized, kubelet] = await Promise.all([
      seen(() => nodeOf(asked(), nodeName, signal)),
      seen(() => missingRights(asked(), agentRights(options), signal)),
      seen(async () => {
        asked();
        return host.hello(the(access), signal);
      }),
      seen(async () => (await systemdSays(context, 'timedatectl', ['show', '-p', 'NTPSynchronized', '--value'])).trim() === 'yes'),
      look.version(),
    ]);
    return { server, assignment, nodeName, node, missing, hello, isSynchronized, kubelet, now: context.clock.now() };
  } finally {
    if ('seen' in client) await client.seen.close();
  }
}

async function orProblem<T>(answer: Promise<T>): Promise<T | { problem: string }> {
  return answer.catch((error: unknown) => ({ problem: describeError(error) }));
}

async function nodeOf(client: Client, name: string, signal: AbortSignal): Promise<Known<ServerFacts['node']>> {
  try {
    await client.get(nodes, { name }, { signal });
    return 'found';
  } catch (error) {
    if (isNotFound(error)) return 'missing';
    if (isForbidden(error)) return { problem: describeError(error) };
    throw error;
  }
}

/** What the agent does, each right once; deploy/node-rights.ts grants this, and the node authorizer. */
export function agentRights({
  nodeName: name,
  assignment,
  configmapNamespace,
}: Pick<AgentOptions, 'nodeName' | 'assignment' | 'configmapNamespace'>): Right[] {
  const rights = rightsIn('');
  const { group, resource } = nodeConfigs;
  return [
    ...rights('get list watch', { group: '', resource: 'nodes', name }),
    ...rights('patch', { group: '', resource: 'nodes', subresource: 'status', name, vital: assignment === 'node' }),
    ...(assignment === 'node'
      ? []
      : [...rights('get list watch', { group, resource, name }), ...rights('patch', { group, resource, subresource: 'status', name })]),
    ...rightsIn(configmapNamespace)('get list watch', { group: '', resource: 'configmaps' }),
    ...rightsIn(EVENT_NAMESPACE)('create', { group: '', resource: 'events', vital: false }),
  ];
}
