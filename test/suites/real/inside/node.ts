import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { Api } from '../../systemd/inside/api.ts';
import { kubeletExits } from '../../systemd/inside/kubelet.ts';
import { run } from '../../systemd/inside/program.ts';
import { property, settled, systemctl } from '../../systemd/inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';
import { KEY, KUBECONFIG, NAMESPACE, NODE } from './names.ts';

const DKC = ['/usr/lib/dkc/node', '/usr/lib/dkc/dkc.js'] as const;

/** As Node.status.config and `dkc status` name a config. */
interface ConfigSource {
  configMap: { name: string; uid: string; resourceVersion: string };
}
interface NodeObject {
  status?: { config?: { assigned?: ConfigSource; active?: ConfigSource; lastKnownGood?: ConfigSource; error?: string } };
}

/** What the API server says of the node: names of ConfigMaps. */
export interface NodeStatus {
  assigned: string | null;
  active: string | null;
  lastKnownGood: string | null;
  error: string | null;
}

/** Sets keys of the agent's configuration file, and resolves once the agent runs with them. */
export async function configureAgent(keys: Readonly<Record<string, unknown>>): Promise<void> {
  const path = '/etc/dkc/agent.yaml';
  writeFileSync(path, stringify({ ...(parse(readFileSync(path, 'utf8')) as object), ...keys }));
  systemctl('restart', 'dkc-agent.service');
  await settled();
}

/** One life of the kubelet. */
export interface KubeletLife {
  pid: string;
  /** When it began, on the monotonic clock, in microseconds. */
  began: string;
}

export const kubeletLife = (): KubeletLife => ({
  pid: property('kubelet.service', 'MainPID'),
  began: property('kubelet.service', 'ExecMainStartTimestampMonotonic'),
});

function get(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? overHttps : overHttp;
    const asked = send(url, { agent: false, rejectUnauthorized: false, timeout: 1000 }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('error', () => resolve(undefined)).on('end', () => resolve(answer.statusCode === 200 ? text : undefined));
    });
    asked
      .on('timeout', () => asked.destroy())
      .on('error', () => resolve(undefined))
      .end();
  });
}

export const isHealthy = async (): Promise<boolean> => (await get('http://127.0.0.1:10248/healthz')) !== undefined;

/** The configuration that a living kubelet says it runs; undefined where none answers. */
export async function configz(): Promise<Record<string, unknown> | undefined> {
  const text = await get('https://127.0.0.1:10250/configz');
  return text === undefined ? undefined : (JSON.parse(text) as { kubeletconfig: Record<string, unknown> }).kubeletconfig;
}

/** Waits for a kubelet that is healthy on the config with this number of pods, and still is a moment later: some die right after. */
export async function healthyOn(maxPods: number, within?: number): Promise<KubeletLife> {
  return eventually(
    `a healthy kubelet with maxPods ${maxPods}`,
    async () => {
      if ((await configz())?.['maxPods'] !== maxPods || !(await isHealthy())) return undefined;
      const life = kubeletLife();
      await sleep(150);
      return (await isHealthy()) && kubeletLife().pid === life.pid && life.pid !== '0' ? life : undefined;
    },
    within,
  );
}

/** Milliseconds since a moment of `performance.now()`. */
export const since = (from: number): number => Math.round(performance.now() - from);

/** Ends of a kubelet that nobody asked for. */
export const crashes = (): number => kubeletExits().filter((exit) => exit.result !== 'success').length;

/** Starts of the kubelet since this machine booted. */
export const starts = (): number => journal('kubelet.service').filter((line) => line.startsWith('Started kubelet.service')).length;

/** What the journal has of a unit, message by message. */
export function journal(unit: string): string[] {
  // What was said is written down a little later.
  run('journalctl', '--sync');
  return run('journalctl', '--no-pager', '-o', 'cat', '-u', unit).split('\n');
}

/** Lines of the store's own journal: what the agent did with the ConfigMap of this name. */
export function history(name: string): string[] {
  const path = '/var/lib/dkc/store/journal.jsonl';
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const read = lines.map((line) => JSON.parse(line) as { event: string; source: { name: string } | null });
  return read.filter(({ source }) => source?.name === name).map(({ event }) => event);
}

/** Waits until the agent has noted this event for the ConfigMap of this name. No API server is needed. */
export const noted = (event: string, name: string, within?: number): Promise<true> =>
  eventually(`${event} ${name}`, () => history(name).includes(event), within);

/** Runs a command of dkc as an admin of the node would. */
export function dkc(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(DKC[0], [DKC[1], ...args], { encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** @throws where it does not end with 0; `dkc status` ends with 1 after a fallback */
export function dkcJson<T>(...args: string[]): T {
  const { code, stdout, stderr } = dkc(...args, '-o', 'json');
  if (code !== 0 && !(args[0] === 'status' && code === 1)) throw new Error(`dkc ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** The API server of this machine, and the assignments of its one node. */
export class Cluster {
  readonly api: Api;
  constructor(api: Api) {
    this.api = api;
  }

  /** Creates the ConfigMap of this name and assigns it. @returns the moment it was assigned, of `performance.now()` */
  async assign(name: string, config: string): Promise<number> {
    await this.api.send('POST', `/api/v1/namespaces/${NAMESPACE}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { [KEY]: config },
    });
    const configMap = { namespace: NAMESPACE, name, kubeletConfigKey: KEY };
    await this.api.send('PATCH', `/api/v1/nodes/${NODE}`, { spec: { configSource: { configMap } } });
    return performance.now();
  }

  async unassign(): Promise<void> {
    await this.api.send('PATCH', `/api/v1/nodes/${NODE}`, { spec: { configSource: null } });
  }

  async status(): Promise<NodeStatus> {
    const { status } = await this.api.send<NodeObject>('GET', `/api/v1/nodes/${NODE}`);
    const { assigned, active, lastKnownGood, error } = status?.config ?? {};
    const name = (source: ConfigSource | undefined): string | null => source?.configMap.name ?? null;
    return { assigned: name(assigned), active: name(active), lastKnownGood: name(lastKnownGood), error: error ?? null };
  }

  /** Waits until the API server says so. */
  until(what: string, fits: (status: NodeStatus) => boolean, within?: number): Promise<NodeStatus> {
    const look = async (): Promise<NodeStatus | undefined> => {
      const status = await this.status();
      return fits(status) ? status : undefined;
    };
    return eventually(what, look, within);
  }

  /** Messages of the node's events that give this reason and name this ConfigMap. */
  async events(reason: string, name: string): Promise<string[]> {
    const { items } = await this.api.send<{ items: { reason: string; message: string }[] }>('GET', '/api/v1/namespaces/default/events');
    return items.filter((event) => event.reason === reason && event.message.includes(`/${name},`)).map((event) => event.message);
  }
}

/** An API server that knows the node, then agent and kubelet: as after the installation. */
export async function nodeUp(): Promise<Cluster> {
  run('systemd-run', '--quiet', '--unit=apiserver', ...DKC, 'apiserver', '--listen=127.0.0.1:6443', `--write-kubeconfig=${KUBECONFIG}`);
  await eventually('the API server', () => existsSync(KUBECONFIG));
  const api = new Api(KUBECONFIG);
  await api.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } });
  systemctl('start', 'kubelet.service');
  return new Cluster(api);
}
