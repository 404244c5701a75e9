import type { Clock, Millis } from '../../../base/clock.ts';
import type { Source } from '../../../agent/checkpoint/source.ts';
import { nodeConfigs, type NodeConfig } from '../../../agent/status/node-config.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';

/**
 * good: uses what it is assigned and trusts it. rejects: reports upstream's error at once. condemns: uses it, and goes back in
 * the trial. hangs: never reports anything.
 */
export type Behaviour = 'good' | 'rejects' | 'condemns' | 'hangs';

/** How long agents take until they use what they are assigned, until they trust it, and until they undo what they condemn. */
export type Pace = Record<'active' | 'trial' | 'condemned', Millis>;

const usual: Pace = { active: 3_000, condemned: 20_000, trial: 60_000 };

const REJECTED = 'failed to validate config, see Kubelet log for details';
const CONDEMNED = 'failed trial, see dkc-agent log for details';

interface State {
  behaviour: Behaviour;
  /** What the spec said when the agent looked last. */
  wanted: string;
  active: Source | null;
  lastKnownGood: Source | null;
  /** It does not do well with what it is assigned, and tries it again when it is asked to. */
  isBad?: boolean;
}

/** Plays what the agents of a fleet report in their NodeConfigs, in fake time. */
export class LightAgents {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #states = new Map<string, State>();
  readonly #ending = new AbortController();
  /** By content of the payload: nodes behave alike when they meet it. */
  bad: ((text: string, node: string) => Behaviour | undefined) | undefined;
  /** By ConfigMap: its last value of dkc.dev/retry. */
  #tried: Map<string, string> | undefined;
  /** Nodes that are assigned something that they do not use yet, now and at most so far. */
  readonly inFlight = new Set<string>();
  mostInFlight = 0;
  /** Names in the order in which they were assigned. */
  readonly assigned: string[] = [];

  constructor(client: Client, clock: Clock, pace: Pace = usual) {
    this.#client = client;
    this.#pace = pace;
    this.#clock = clock;
  }

  behave(name: string, behaviour: Behaviour): void {
    this.#state(name).behaviour = behaviour;
  }

  #state(name: string): State {
    let state = this.#states.get(name);
    if (state === undefined) this.#states.set(name, (state = { behaviour: 'good', wanted: '', active: null, lastKnownGood: null }));
    return state;
  }

  /** The agent of a node starts: it has its NodeConfig, and reports local. */
  async join(name: string): Promise<void> {
    this.#state(name);
    const object = { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name }, spec: {} };
    await this.#client.create(nodeConfigs, object).catch(() => {});
    await this.#report(name, 1, { assigned: null, active: null, lastKnownGood: null });
  }

  /** Watches the NodeConfigs until it is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        for await (const { type, object } of this.#client.watch<NodeConfig>(nodeConfigs, {}, signal))
          if (type !== 'BOOKMARK' && type !== 'DELETED') this.#seen(object);
      } catch {
        if (!signal.aborted) await this.#clock.sleep(1_000, signal).catch(() => {});
      }
    }
  }

  /** A new value of dkc.dev/retry has agents try again what they could not use, after a moment. */
  async #retry(tried: Map<string, string>, signal: AbortSignal): Promise<void> {
    for await (const { type, object } of this.#client.watch(configMaps, {}, signal)) {
      const { name = '', annotations = {} } = object.metadata;
      const value = annotations['dkc.dev/retry'];
      if (type === 'DELETED' || type === 'BOOKMARK' || value === undefined || tried.get(name) === value) continue;
      tried.set(name, value);
      await this.#clock.sleep(this.#pace.active, signal);
      for (const [node, state] of this.#states)
        if (state.isBad && (JSON.parse(state.wanted || 'null') as { name?: string } | null)?.name === name) {
          const { metadata } = await this.#client.get<NodeConfig>(nodeConfigs, { name: node });
          void this.#follow(node, state, state.wanted, metadata.generation ?? 1).catch(() => {});
        }
    }
    return this.#retry(tried, signal);
  }

  stop(): void {
    this.#ending.abort();
  }

  #seen({ metadata, spec }: NodeConfig): void {
    const { name = '', generation = 1 } = metadata;
    const state = this.#states.get(name);
    const wanted = JSON.stringify(spec?.configMap ?? null);
    if (state === undefined || state.wanted === wanted) return;
    const isFirst = state.wanted === '';
    state.wanted = wanted;
    if (isFirst && wanted === 'null') return;
    this.assigned.push(name);
    this.inFlight.add(name);
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight.size);
    void this.#follow(name, state, wanted, generation).catch(() => {});
  }

  async #follow(name: string, state: State, wanted: string, generation: number): Promise<void> {
    const isCurrent = (): boolean => state.wanted === wanted;
    const { signal } = this.#ending;
    const spec = JSON.parse(wanted) as { namespace: string; name: string; kubeletConfigKey: string } | null;
    if (spec === null) {
      await this.#clock.sleep(this.#pace.active, signal);
      if (!isCurrent()) return;
      state.active = state.lastKnownGood = null;
      await this.#report(name, generation, { assigned: null, active: null, lastKnownGood: null });
      this.inFlight.delete(name);
      return;
    }
    const map = await this.#client.get<{ metadata: object; data?: Record<string, string> } & NodeConfig>(configMaps, spec);
    const source: Source = { ...spec, uid: map.metadata.uid ?? '', resourceVersion: map.metadata.resourceVersion ?? '' };
    const behaviour = this.bad?.(map.data?.[spec.kubeletConfigKey] ?? '', name) ?? state.behaviour;
    state.isBad = behaviour !== 'good';
    if (state.isBad && this.#tried === undefined) void this.#retry((this.#tried = new Map()), signal).catch(() => {});
    if (behaviour === 'hangs') return;
    if (behaviour === 'rejects') {
      const { active, lastKnownGood } = state;
      await this.#report(name, generation, { assigned: active, active, lastKnownGood, error: REJECTED });
      this.inFlight.delete(name);
      return;
    }
    await this.#clock.sleep(this.#pace.active, signal);
    if (!isCurrent()) return;
    const before = state.active;
    state.active = source;
    await this.#report(name, generation, { assigned: source, active: source, lastKnownGood: state.lastKnownGood, trial: true });
    await this.#clock.sleep(behaviour === 'condemns' ? this.#pace.condemned : this.#pace.trial, signal);
    if (!isCurrent()) return;
    if (behaviour === 'condemns') {
      state.active = before;
      this.inFlight.delete(name);
      await this.#report(name, generation, { assigned: source, active: before, lastKnownGood: state.lastKnownGood, error: CONDEMNED });
      return;
    }
    state.lastKnownGood = source;
    this.inFlight.delete(name);
    await this.#report(name, generation, { assigned: source, active: source, lastKnownGood: source });
  }

  async #report(
    name: string,
    observedGeneration: number,
    says: { assigned: Source | null; active: Source | null; lastKnownGood: Source | null; error?: string; trial?: boolean },
  ): Promise<void> {
    const member = (source: Source | null) => (source === null ? null : { configMap: source });
    const status = {
      observedGeneration,
      agentVersion: '0.1.0',
      assigned: member(says.assigned),
      active: member(says.active),
      lastKnownGood: member(says.lastKnownGood),
      error: says.error ?? null,
      trial: says.trial === true ? { endsAt: new Date(this.#clock.now() + this.#pace.trial).toISOString() } : null,
    };
    await this.#client.patch(nodeConfigs, { name }, { status }, { type: 'merge', subresource: 'status' });
  }
}
