import type { ApiHttp, Loose } from '../../../support/api-http.ts';
import { eventually } from '../../../support/eventually.ts';
import type { FatalRow } from '../../../support/fatal-rows.ts';

const NODE_CONFIGS = '/apis/dkc.dev/v1alpha1/nodeconfigs';
const DEFAULT = '/api/v1/namespaces/default';

type RowPod = NonNullable<NonNullable<FatalRow['machine']>['pods']>[number];

/** A Node at the API server, its pods and its assignment, as an admin reads and writes them. */
export class ApiNode {
  readonly #api: ApiHttp;
  readonly #name: string;

  constructor(api: ApiHttp, name: string) {
    this.#api = api;
    this.#name = name;
  }

  async ready(): Promise<{ status: string; heartbeat: string; message: string } | undefined> {
    const answer = await this.#api.call('GET', `/api/v1/nodes/${this.#name}`);
    if (answer.code !== 200) return undefined;
    const conditions = (answer.json['status']?.['conditions'] ?? []) as unknown as Record<string, string>[];
    const ready = conditions.find(({ type }) => type === 'Ready');
    return { status: ready?.['status'] ?? '', heartbeat: ready?.['lastHeartbeatTime'] ?? '', message: ready?.['message'] ?? '' };
  }

  async createPod(name: string, { requests, limits, sysctls }: RowPod): Promise<void> {
    const resources = { ...(requests ? { requests } : {}), ...(limits ? { limits } : {}) };
    const spec = {
      nodeName: this.#name,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'c', image: 'example.com/c:1', resources }],
      ...(sysctls ? { securityContext: { sysctls } } : {}),
    };
    await this.#created(`${DEFAULT}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${this.#name}-${name}` }, spec });
  }

  /** Creates it and waits until it runs. */
  async podRuns(name: string, pod: RowPod): Promise<void> {
    await this.createPod(name, pod);
    const runs = async (): Promise<boolean> => (await this.phase(name)) === 'Running';
    await eventually(`the pod ${name} to run`, runs, 60_000, () => this.reason(name));
  }

  async #pod(name: string): Promise<Loose | undefined> {
    const answer = await this.#api.call('GET', `${DEFAULT}/pods/${this.#name}-${name}`);
    return answer.code === 200 ? answer.json : undefined;
  }

  /** undefined: there is no such pod. */
  async phase(name: string): Promise<string | undefined> {
    return (await this.#pod(name))?.['status']?.['phase'] as unknown as string | undefined;
  }

  async reason(name: string): Promise<string> {
    const status = (await this.#pod(name))?.['status'] as unknown as { phase?: string; reason?: string; message?: string } | undefined;
    return [status?.phase, status?.reason, status?.message].join(' ');
  }

  /** Creates a ConfigMap of this text and assigns it to the Node. */
  async assign(text: string): Promise<void> {
    const name = `${this.#name}-config`;
    const data = { kubelet: text };
    await this.#created(`${DEFAULT}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
    const configMap = { namespace: 'default', name, kubeletConfigKey: 'kubelet' };
    const metadata = { name: this.#name };
    await this.#created(NODE_CONFIGS, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata, spec: { configMap } });
  }

  /** What the agent says of the assignment. */
  async assignment(): Promise<{ error: string; trusted: boolean }> {
    const answer = await this.#api.call('GET', `${NODE_CONFIGS}/${this.#name}`);
    const status = (answer.json['status'] ?? {}) as unknown as { error?: string; lastKnownGood?: { configMap?: unknown } };
    return { error: status.error ?? '', trusted: status.lastKnownGood?.configMap !== undefined };
  }

  async #created(path: string, body: object): Promise<void> {
    const answer = await this.#api.call('POST', path, { body });
    if (answer.code !== 201) throw new Error(`POST ${path}: ${answer.text}`);
  }
}
