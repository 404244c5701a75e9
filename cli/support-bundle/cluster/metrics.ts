import { describeError } from '../../../base/errors.ts';
import { pods } from '../../../kube/api/resources.ts';
import { redactText } from '../redact/text.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Found } from '../collector.ts';

/** Of dkc: two replicas of two or three programs are usual. */
const MAX_PODS = 20;
const TIMEOUT_MS = 10_000;

interface Pod extends KubeObject {
  spec?: { containers?: { ports?: { name?: string; containerPort?: number }[] }[] };
}

/** What the pods of dkc say on their port `metrics`, through the proxy of the API server. One that does not answer is left out with its reason. */
export async function metricsOf(client: Client, namespace: string, signal: AbortSignal): Promise<Found[]> {
  const { items } = await client.list<Pod>(pods, { namespace, labelSelector: 'app.kubernetes.io/name=dkc', limit: MAX_PODS }, { signal });
  const asked = items.map(async (pod): Promise<Found> => {
    const { name = '' } = pod.metadata;
    const path = `cluster/metrics/${name}.txt`;
    const port = portOf(pod);
    if (port === undefined) return { path, leftOut: 'it has no port named metrics' };
    try {
      const to = `/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/metrics`;
      return { path, text: redactText(String(await client.raw('GET', to, { signal, timeoutMs: TIMEOUT_MS, answers: 'text' }))) };
    } catch (error) {
      signal.throwIfAborted();
      return { path, leftOut: redactText(describeError(error)) };
    }
  });
  return Promise.all(asked);
}

const portOf = ({ spec }: Pod): number | undefined =>
  spec?.containers?.flatMap(({ ports = [] }) => ports).find(({ name }) => name === 'metrics')?.containerPort;
