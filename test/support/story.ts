import { configYaml, SimulatedNode } from './simulated-node.ts';
import { SshSigner } from './ssh-signing.ts';
import { goDuration } from '../../base/go-duration.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { configMaps, nodes, type KubeObject } from '../../kube/api/object.ts';

const NAMESPACE = 'dkc-system';
const reference = { namespace: NAMESPACE, kubeletConfigKey: 'kubelet' };

/** The commands of the transcripts, on a simulated node and its API server. */
export class Story {
  readonly node = new SimulatedNode();
  readonly api = this.node.api;

  /** @returns what happened, each line with the seconds since the command where that is not 0 */
  async run(line: string): Promise<string[]> {
    const [command = '', ...words] = line.split(' ');
    if (command === 'given') return this.#given(words);
    const { clock, told } = this.node;
    const from = clock.monotonic();
    await this.#do(command, words);
    await clock.advance(0);
    return folded(told.splice(0).map(({ at, line: text }) => `${at > from ? `${Math.round((at - from) / 100) / 10}s ` : ''}${text}`));
  }

  /**
   * `web maxPods=40`: a new node with this config on trial; `trusted web maxPods=40`: past it; `... then maxPods=50`: with the next one
   * on trial. good-config-promoted.txt and fatal-rolled-back.txt tell how it comes to that; here only where it ends.
   */
  async #given(words: readonly string[]): Promise<string[]> {
    const trusted = words[0] === 'trusted';
    const [first = '', next] = (trusted ? words.slice(1) : words).join(' ').split(' then ');
    const [name] = first.split(' ');
    const commands = ['start', `configmap ${first}`, `assign ${name}`];
    if (trusted) commands.push('pass 11m');
    if (next !== undefined) commands.push(`configmap ${name} ${next}`);
    const told: string[] = [];
    for (const command of commands) told.push(...(await this.run(command)));
    return told.flatMap((line) => /status .*/.exec(line)?.[0] ?? []).slice(-1);
  }

  async #do(command: string, words: readonly string[]): Promise<void> {
    const { node } = this;
    const [first = '', ...rest] = words;
    const settings = Object.fromEntries(words.filter((word) => word.includes('=')).map(split));
    switch (command) {
      case 'start':
      case 'stop':
      case 'kill':
      case 'reboot':
      case 'crash':
        return node[command]();
      case 'log':
        return void (node.tellLog = true);
      case 'credentials':
        return void (node.credentials = first);
      case 'options':
        if (words.includes('no-kubeconfig')) node.goOffline();
        if (settings['preflight'] !== undefined) node.set({ preflight: settings['preflight'] === 'true' });
        return undefined;
      case 'pass':
        return node.clock.advance(millis(first));
      case 'clock':
        return node.clock.jump((first.startsWith('-') ? -1 : 1) * millis(first.slice(1)));
      case 'configmap':
        return this.#configMap(first, rest);
      // The API server comes back from a backup, and has other fields under the same uid and resourceVersion.
      case 'restored':
        this.api.setAway(true);
        await node.clock.advance(0);
        this.api.restore(configMaps, { name: first, namespace: NAMESPACE }, { data: { kubelet: configYaml(settings) } });
        return this.api.setAway(false);
      // The checkpoint of what the API server has is upstream's, without a manifest, and lost the fields that are not named.
      case 'torn':
        return node.tear(this.api.get(configMaps, { name: first, namespace: NAMESPACE })?.metadata, configYaml(settings));
      case 'delete':
        return this.api.remove(configMaps, { name: first, namespace: NAMESPACE });
      case 'assign':
        return this.#configSource({ configMap: { ...reference, name: first, ...settings } });
      case 'unassign':
        return this.#configSource(undefined);
      // `nodeconfig web` assigns there; without a name it says local, and `gone` deletes it.
      case 'nodeconfig':
        if (first === 'gone') return this.api.remove(nodeConfigs, { name: node.name });
        return this.#nodeConfig(node.name, first === '' ? {} : { configMap: { ...reference, name: first } });
      case 'api':
        return this.#server(words);
      // `keys ci next`: the policy accepts what these signed.
      case 'keys':
        return node.writePolicy(SshSigner.policy(...words.map(signerNamed)));
      case 'disk':
        node.faults.unread = first === 'unread';
        node.faults.slowMs = first === 'slow' ? 9_000 : 0;
        node.faults.spoils = first === 'spoils' ? rest[0] : undefined;
        node.faults.broken = first === 'full' ? 'ENOSPC' : first === 'read-only' ? 'EROFS' : undefined;
        return undefined;
      case 'node':
        if (first === 'reports') {
          node.status.reports = true;
          node.status.setReady(true);
        } else if (first === 'recreated') node.register();
        else node.status.setReady(first === 'ready');
        return undefined;
      case 'pods':
        if (first === 'forbidden') this.api.podsForbidden = true;
        else for (const name of words) node.status.addPod(name);
        return undefined;
      case 'carrier':
        return node.tellCarrier();
      case 'kubelet':
        node.kubelet.cursed = first === 'cursed';
        if (node.kubelet.cursed) await node.kubelet.tryRestart();
        return undefined;
      case 'rollback':
        return node.tell(`dkc rollback: ${await node.rollback(...words)}`);
      case 'retry':
        return node.retry(words[0]);
      case 'effective':
        return node.tell((await node.effective()).trimEnd().split('\n').slice(2).join(', ') || 'all defaults');
      default:
        throw new Error(`no such command in a transcript: ${command}`);
    }
  }

  #server([what]: readonly string[]): void {
    if (what === 'away' || what === 'back') this.api.setAway(what === 'away');
    else if (what === 'gate-off') this.api.gate = false;
    else if (what === 'upgrade') this.api.version = 'v1.36.3';
    else if (what === 'with-crd') this.api.hasNodeConfigs = true;
    else if (what === 'without-crd') this.#withoutNodeConfigs();
    else if (what === 'forbidden' || what === 'allowed') this.api.forbidden = what === 'forbidden';
    else throw new Error(`the API server cannot do that: ${what}`);
  }

  /** `maxPods=40` are fields, `dkc.dev/x=y` annotations, `label=x` a label, `key=K` the data key, `text=T` the bytes as they are, `signed-by=NAME` a signature. */
  #configMap(name: string, words: readonly string[]): void {
    const all = words.map(split);
    const special = new Map(all);
    const annotations = Object.fromEntries(all.filter(([key]) => key.startsWith('dkc.dev/')));
    const fields = Object.fromEntries(all.filter(([key]) => !/^(dkc\.dev\/.*|label|key|text|signed-by)$/.test(key)));
    const old = this.api.get(configMaps, { name, namespace: NAMESPACE });
    const text = special.get('text') ?? configYaml(fields);
    const data =
      Object.keys(fields).length > 0 || special.has('text')
        ? { ...(old?.['data'] as Record<string, string> | undefined), [special.get('key') ?? 'kubelet']: text }
        : old?.['data'];
    const label = special.get('label');
    const signer = special.get('signed-by');
    const allow = annotations['dkc.dev/allow'];
    const signed =
      signer === undefined ? data : signerNamed(signer).signed(data as Record<string, string>, allow === undefined ? {} : { allow });
    const labels = label === undefined ? {} : { labels: { label } };
    const noted = Object.keys(annotations).length > 0 ? { annotations } : {};
    this.api.put(configMaps, { metadata: { name, namespace: NAMESPACE, ...labels, ...noted }, data: signed });
  }

  /** A definition takes its objects with it. */
  #withoutNodeConfigs(): void {
    for (const { metadata } of this.api.all(nodeConfigs)) this.api.remove(nodeConfigs, { name: metadata.name ?? '' });
    this.api.hasNodeConfigs = false;
    this.api.endWatches('nodeconfigs');
  }

  #nodeConfig(name: string, spec: object): void {
    const old = this.api.get(nodeConfigs, { name });
    const generation = (old?.metadata.generation ?? 0) + 1;
    this.api.put(nodeConfigs, { ...(old?.['status'] ? { status: old['status'] } : {}), metadata: { name, generation }, spec });
  }

  #configSource(configSource: unknown): void {
    const old = this.api.get(nodes, { name: this.node.name });
    if (!old) throw new Error('the Node is gone');
    if (!this.api.isNative && (old['spec'] as { configSource?: unknown }).configSource === undefined) return;
    const { resourceVersion: _old, ...metadata } = old.metadata;
    const next: KubeObject = { ...old, metadata, spec: configSource === undefined ? {} : { configSource } };
    this.api.put(nodes, next);
  }
}

/** One line for a kubelet that dies again and again, for an agent that leaves and what its next start decides, and for a checkpoint and its assignment. */
function folded(lines: readonly string[]): string[] {
  const text = lines.map((line) => `${line}\n`).join('');
  const loops = /(\S+) kubelet dies\n(?:\S+ kubelet starts with .*\n(\S+) kubelet dies\n)+/g;
  const short = text
    .replace(loops, (loop, first, last) => `${first} kubelet dies, ${loop.split(' dies').length - 1} times until ${last}\n`)
    .replace(/^(.*)(agent exits 0)\n\1(effective file written)\n\1(journal booted .*)$/gm, '$1$2, $3, $4')
    .replace(/^(.*)(save .*)\n\1(journal assigned .*)$/gm, '$1$2, $3');
  return short.split('\n').slice(0, -1);
}

const signerNamed = (name: string): SshSigner => new SshSigner('ssh-ed25519', `${name}@example.com`, { seed: name });

function millis(text: string): number {
  const nanos = goDuration(text);
  if (nanos === undefined) throw new Error(`no duration: ${text}`);
  return Number(nanos / 1_000_000n);
}

function split(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1).replaceAll('_', ' ')];
}
