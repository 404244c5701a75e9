import { inspectKubeconfig, textOf } from './credentials.ts';
import { outputOf } from './units.ts';
import { type Known, seen, the, Unseen } from '../check.ts';
import type { CredentialFacts } from '../node/credentials.ts';
import type { ServerFacts } from '../node/server.ts';
import type { NodeInspector } from './node-inspector.ts';
import { missingRights, type Right, rightsIn } from '../../process/check-rights.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import type { AgentOptions } from '../../../agent/options.ts';
import { serverFacts } from '../../../controllers/fleet/server-facts.ts';
import { EVENT_NAMESPACE, nodes } from '../../../kube/api/object.ts';
import { isForbidden, isNotFound } from '../../../kube/client/errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { describeError } from '../../../base/errors.ts';
import type { TLSSocket } from 'node:tls';
import { http, https } from '../../../kube/client/builtins.ts';
import type { Millis } from '../../../base/clock.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';

/** Timeout of one request, in ms. */
const REQUEST_MS = 5000;

export async function inspectCredentials(inspector: NodeInspector): Promise<CredentialFacts> {
  const { kubeletUnit } = inspector.options;
  return { ...(await ofAgent(inspector)).facts, ...(kubeletUnit === '' ? {} : { kubeletUnit }) };
}

/** If the settings cannot be read, a missing kubeconfig setting is unknown rather than absent. */
function ofAgent({ context, options, settingsProblem }: NodeInspector): ReturnType<typeof inspectKubeconfig> {
  const { kubeconfig } = options;
  const unknown = settingsProblem !== undefined && kubeconfig === undefined;
  return inspectKubeconfig(unknown ? { unseen: 'the settings cannot be read' } : { seen: kubeconfig }, context.env, context.clock.now());
}

export async function inspectServer(inspector: NodeInspector, signal: AbortSignal): Promise<ServerFacts> {
  const { context, options, host } = inspector;
  const { nodeName, kubeconfig, assignment } = options;
  const { access } = await ofAgent(inspector);
  const client = await seen(async () => {
    the(access);
    return context.connect({ ...(kubeconfig === undefined ? {} : { kubeconfig }), requestTimeoutMs: REQUEST_MS });
  });
  try {
    const server = await seen(async () => orProblem(serverFacts(the(client), signal)));
    /** If the first request got no response, the other requests are skipped instead of timing out too. */
    const connected = (): Client => {
      if ('problem' in the(server)) throw new Unseen('the API server does not answer');
      return the(client);
    };
    const [node, missing, hello, isSynchronized, kubelet] = await Promise.all([
      seen(() => nodeOf(connected(), nodeName, signal)),
      seen(() => missingRights(connected(), agentRights(options), signal)),
      seen(async () => {
        connected();
        return host.hello(the(access), signal);
      }),
      seen(async () => (await outputOf(context, 'timedatectl', ['show', '-p', 'NTPSynchronized', '--value'])).trim() === 'yes'),
      inspector.version(),
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

/** Rights that the agent needs, each once; deploy/rights.ts and the node authorizer grant them. */
function agentRights({
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

const TIMEOUT_MS: Millis = 5000;

/** Facts from any response of an API server. */
export interface Hello {
  /** Time of the server minus ours, from the Date header. */
  aheadMs: Millis;
  /** Certificate of the server; null without TLS. */
  certificate: { notBefore: Millis; notAfter: Millis } | null;
}

/**
 * Sends a request without credentials: a rejection has a Date header too.
 * @throws Unseen behind a proxy, whose response may have the proxy's own date; the socket's error
 */
export async function helloOf(access: ClusterAccess, signal: AbortSignal): Promise<Hello> {
  if (access.proxy !== undefined) throw new Unseen('the API server is behind a proxy');
  const ca = access.ca === undefined ? undefined : await textOf(access.ca);
  const url = new URL('version', access.server.endsWith('/') ? access.server : `${access.server}/`);
  const from = Date.now();
  const { date, certificate } = await answerOf(url, signal, {
    ...(ca === undefined ? {} : { ca }),
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
    rejectUnauthorized: access.insecureSkipTlsVerify !== true,
  });
  // Date has whole seconds: half a second is the expected value of the lost part.
  return { aheadMs: date + 500 - (from + Date.now()) / 2, certificate };
}

function answerOf(
  url: URL,
  signal: AbortSignal,
  tls: { ca?: string; servername?: string; rejectUnauthorized: boolean },
): Promise<{ date: Millis; certificate: Hello['certificate'] }> {
  const options = { ...tls, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]), agent: false };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https() : http()).get(url, options, (answer) => {
      const certificate = certificateOf(answer.socket);
      answer.destroy();
      const date = Date.parse(answer.headers.date ?? '');
      if (Number.isNaN(date)) reject(new Unseen('the API server sends no date'));
      else resolve({ date, certificate });
    });
    request.on('error', reject);
  });
}

function certificateOf(socket: object): Hello['certificate'] {
  if (!('getPeerCertificate' in socket)) return null;
  const { valid_from: from, valid_to: to } = (socket as TLSSocket).getPeerCertificate();
  return { notBefore: Date.parse(from), notAfter: Date.parse(to) };
}
