import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { Api } from './api.ts';
import { run } from './program.ts';
import { eventually } from '../../../support/eventually.ts';

export const NODE = 'machine';
export const NAMESPACE = 'dkc-system';
const KUBECONFIG = '/etc/dkc/kubeconfig';
const KEY = 'kubelet';

interface Node {
  status?: { config?: { lastKnownGood?: { configMap?: { name?: string } } } };
}

/** dist/dkc.js as installed, on its own embedded API server. */
export class Bundle {
  readonly #settings: string;
  readonly #release: string | undefined;
  #api: Api | undefined;
  #assigned = 0;

  /** @param settings - lines for agent.yaml @param release - of an API server of today, which assigns in NodeConfigs; absent: 1.20, and in the Node */
  constructor(settings = '', release?: string) {
    this.#settings = settings;
    this.#release = release;
  }

  /** Brings up what the agent talks to. Before dkc-agent.service is started. */
  async prepare(): Promise<void> {
    mkdirSync('/etc/dkc', { recursive: true, mode: 0o700 });
    const assignment = this.#release === undefined ? 'node' : 'auto';
    writeFileSync('/etc/dkc/agent.yaml', `nodeName: ${NODE}\nkubeconfig: ${KUBECONFIG}\nassignment: ${assignment}\n${this.#settings}`);
    const like = this.#release === undefined ? [] : [`--kubernetes-version=${this.#release}`];
    const server = ['apiserver', '--listen=127.0.0.1:6443', `--write-kubeconfig=${KUBECONFIG}`, ...like];
    run('systemd-run', '--quiet', '--unit=apiserver', '/usr/lib/dkc/node', '/usr/lib/dkc/dkc.js', ...server);
    await eventually('the API server', () => existsSync(KUBECONFIG));
    await this.api.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } });
  }

  get api(): Api {
    this.#api ??= new Api(KUBECONFIG);
    return this.#api;
  }

  /** Asks for this kubelet configuration; resolves once it is asked for, not once it is effective. */
  async assign(config: string): Promise<void> {
    const name = `kubelet-${++this.#assigned}`;
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { [KEY]: config } };
    await this.api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, configMap);
    const source = { configMap: { namespace: NAMESPACE, name, kubeletConfigKey: KEY } };
    await this.api.send('PATCH', `/api/v1/nodes/${NODE}`, { spec: { configSource: source } });
  }

  /** Waits until the node trusts what was asked for last. */
  async trusted(): Promise<void> {
    await eventually('trust', async () => {
      const { status } = await this.api.send<Node>('GET', `/api/v1/nodes/${NODE}`);
      return status?.config?.lastKnownGood?.configMap?.name === `kubelet-${this.#assigned}`;
    });
  }
}
