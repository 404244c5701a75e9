import { request, type RequestOptions } from 'node:https';
import { createInterface } from 'node:readline';
import type { ControlPlane } from '../../../../support/real-parts/control-plane.ts';

interface Source {
  configMap?: { namespace: string; name: string; uid: string; resourceVersion: string; kubeletConfigKey: string };
}
type Config = { assigned?: Source; active?: Source; lastKnownGood?: Source; error?: string } | undefined;
interface NodeObject {
  metadata: { name: string };
  status?: { config?: Config };
}

/** Writes down every status.config that a Node ever has, in a notation without what is another in every run. */
export class Recorder {
  /** Node -> what it had, each once as long as it lasts. Without names yet: a node may be quicker than who made the version and then calls it {@link learn}. */
  readonly #seen = new Map<string, Config[]>();
  readonly #versions = new Map<string, string>();
  readonly #made = new Map<string, number>();
  #watch: { destroy(): void } | undefined;
  readonly #waiting = new Set<() => void>();

  /** Gives a version of a ConfigMap its short name: NAME@1, NAME@2, ... */
  learn(name: string, { uid, resourceVersion }: { uid: string; resourceVersion: string }): void {
    const key = `${uid}/${resourceVersion}`;
    if (this.#versions.has(key)) return;
    const n = (this.#made.get(name) ?? 0) + 1;
    this.#made.set(name, n);
    this.#versions.set(key, `${name}@${n}`);
  }

  /** Starts to watch all Nodes. */
  open({ url, ca, adminToken }: ControlPlane): void {
    const options: RequestOptions = { ca, agent: false, headers: { authorization: `Bearer ${adminToken}` } };
    const asked = request(`${url}/api/v1/nodes?watch=1&timeoutSeconds=3600`, options, (answer) => {
      answer.on('error', () => {}); // as below
      const lines = createInterface({ input: answer });
      lines
        .on('error', () => {})
        .on('line', (line) => {
          const { type, object } = JSON.parse(line) as { type: string; object: NodeObject };
          if (type === 'ADDED' || type === 'MODIFIED') this.#see(object);
        });
    });
    asked.on('error', () => {}).end(); // the scenario ends, or a wait of it does in vain
    this.#watch = asked;
  }

  close(): void {
    this.#watch?.destroy();
  }

  /** All that it has said, one after the other. */
  states(node: string): string[] {
    return (this.#seen.get(node) ?? []).map((config) => this.#print(config));
  }

  /** Where the node stands; '' before its Node has been seen. */
  now(node: string): string {
    return this.states(node).at(-1) ?? '';
  }

  /** A message of an event, with what is another in every run by its short name. */
  named(message: string): string {
    return message.replace(
      /UID: ([^,]*), ResourceVersion: ([^,]*)/,
      (_, uid: string, rv: string) => this.#versions.get(`${uid}/${rv}`) ?? 'unknown',
    );
  }

  /** Resolves at the next change of any Node, and after `ms` at the latest. */
  async change(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#waiting.add(resolve);
    await promise;
    this.#waiting.delete(resolve);
    clearTimeout(timer);
  }

  #see(node: NodeObject): void {
    const { name } = node.metadata;
    const config = node.status?.config;
    const seen = this.#seen.get(name) ?? [];
    if (seen.length === 0 || JSON.stringify(seen.at(-1)) !== JSON.stringify(config)) seen.push(config);
    this.#seen.set(name, seen);
    for (const wake of this.#waiting) wake();
  }

  #print(config: Config): string {
    if (!config) return 'none';
    const part = (name: string, source: Source | undefined): string[] => (source ? [`${name}=${this.#name(source)}`] : []);
    const parts = [
      ...part('assigned', config.assigned),
      ...part('active', config.active),
      ...part('last-known-good', config.lastKnownGood),
      ...(config.error === undefined ? [] : [`error=${config.error}`]),
    ];
    return parts.length === 0 ? '{}' : parts.join(' ');
  }

  #name({ configMap }: Source): string {
    if (!configMap) return 'no ConfigMap';
    const { name, uid, resourceVersion, kubeletConfigKey } = configMap;
    const version = this.#versions.get(`${uid}/${resourceVersion}`) ?? `${name}@unknown`;
    return kubeletConfigKey === 'kubelet' ? version : `${version}:${kubeletConfigKey}`;
  }
}
