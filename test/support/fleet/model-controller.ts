import assert from 'node:assert/strict';
import { type Millis, rfc3339 } from '../../../base/clock.ts';
import type { Action, DrainFor, DrainState, Facts } from '../../../controllers/rollout/contract.ts';
import { type Caches, observe, type Observer, versionsOf } from '../../../controllers/rollout/observe.ts';
import { Cluster } from '../../../controllers/rollout/cluster/cluster.ts';
import { newRecord, RECORD } from '../../../controllers/rollout/cluster/record.ts';
import { configMapsNamedIn } from '../../../controllers/fleet/read-fleet-node.ts';
import { ClockGaps, wasClockSet } from '../../../controllers/rollout/clock-gaps.ts';
import { cordonPatch, recordOf, timerPatch, uncordonPatch } from '../../../controllers/rollout/drain/record.ts';
import { Fleets } from '../../../controllers/rollout/fleet.ts';
import { isPlannedBy, nodeOf, ownerOf } from '../../../controllers/rollout/maintenance.ts';
import { type RolloutNode, viewOf } from '../../../controllers/rollout/node.ts';
import { plan } from '../../../controllers/rollout/plan.ts';
import { type Rules, rulesOf } from '../../../controllers/rollout/rules.ts';
import { KnownTouchesOf, TOUCH_MS } from '../../../controllers/rollout/touches.ts';
import type { Count, NodeConfigRollout } from '../../../controllers/rollout/types.ts';
import { memoize } from '../../../kube/cache/contract.ts';
import { jsonEqual, type JsonObject } from '../../../kube/api/json.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { type Kind, type ModelFleet, NotWritten, serves } from './model-fleet.ts';

const rulesRead = memoize(rulesOf);
const RECORD_KEY = '(record)';
const KINDS: readonly Kind[] = ['rollouts', 'configMaps', 'nodes', 'nodeConfigs'];

interface Cached {
  items: ReadonlyMap<string, KubeObject>;
  version: number;
  /** When it was brought up to date. */
  at: Millis;
}

/** What becomes of a write on its way to the API server. */
export type Write = 'arrives' | 'refused' | 'answer lost';

/** A write that is about to be sent. */
export interface Sending {
  what: string;
  node?: RolloutNode;
  rollout: string;
  action?: Action;
  send: () => void;
}

/** A process with a rollout controller: the product's plan, on caches that may be old, and writes that may fail. It says what it is about to send. */
export class ModelController {
  readonly #fleet: ModelFleet;
  readonly #gaps: ClockGaps;
  readonly #fleets = new Fleets();
  readonly #cluster: Cluster | undefined;
  readonly #observer: Observer;
  #cached: Record<Kind, Cached>;
  readonly #drains = new Map<string, Map<string, DrainState & DrainFor>>();
  /** By rollout: what the caches must have before it decides again. */
  readonly #own = new Map<string, Map<Kind, number>>();
  #looks = 0;
  wakeIn: Millis = Infinity;
  readonly name: string;

  /** @param budget - over all rollouts */
  constructor(fleet: ModelFleet, name: string, budget?: Count) {
    this.name = name;
    this.#fleet = fleet;
    this.#cluster = budget === undefined ? undefined : new Cluster(budget, { monotonic: () => fleet.time }, 'dkc-system');
    this.#cached = Object.fromEntries(KINDS.map((kind) => [kind, { items: new Map(), version: 0, at: 0 }])) as never;
    for (const kind of KINDS) this.sync(kind);
    this.#gaps = new ClockGaps({ now: () => fleet.now, monotonic: () => fleet.time });
    const cache = (kind: Kind) => {
      const of = (): Cached => this.#cached[kind];
      return {
        list: () => [...of().items.values()],
        get: (key: string) => of().items.get(key.slice(key.indexOf('/') + 1)),
        // One index is asked: by the ConfigMaps that objects name.
        indexed: (_: string, value: string) =>
          [...of().items.values()].filter((one) =>
            configMapsNamedIn(one).some(({ namespace, name: map }) => `${namespace}/${map}` === value),
          ),
        get size() {
          return of().items.size;
        },
        get version() {
          return String(of().version);
        },
      };
    };
    const caches = Object.fromEntries(KINDS.map((kind) => [kind, cache(kind)])) as unknown as Caches;
    const configs = { rejects: () => [], needsDrain: () => [] };
    const drains = { statesOf: (rollout: string) => new Map(this.#drains.get(rollout)) };
    const touches = new KnownTouchesOf({ monotonic: () => fleet.time });
    this.#observer = { cluster: this.#cluster, fleets: this.#fleets, touches, caches, rules: rulesRead, configs, serves, drains, gaps: this.#gaps }; // prettier-ignore
  }

  /** The watch of one kind brings what happened. */
  sync(kind: Kind): void {
    const [before, version] = [this.#cached[kind], this.#fleet.version];
    before.at = this.#fleet.time;
    if (before.version === version) return;
    this.#cached[kind] = { items: new Map(this.#fleet.stored[kind]), version, at: this.#fleet.time };
    if (kind !== 'nodes' && kind !== 'nodeConfigs') return;
    const { items } = this.#cached[kind];
    for (const name of new Set([...before.items.keys(), ...items.keys()]))
      if (before.items.get(name) !== items.get(name)) {
        for (const rollout of this.#fleet.stored.rollouts.keys()) this.#fleets.changed(rollout, name);
        this.#cluster?.changed(name);
      }
  }

  /** No watch is behind for longer than this. */
  syncOlder(ms: Millis): void {
    for (const kind of KINDS) if (this.#fleet.time - this.#cached[kind].at > ms) this.sync(kind);
  }

  syncAll(): void {
    for (const kind of KINDS) this.sync(kind);
  }

  /** Notices that the wall clock was set. */
  noticeClock(): void {
    this.#gaps.look();
  }

  /** As this process knows it. */
  knows(node: string): RolloutNode | undefined {
    const object = this.#cached.nodes.items.get(node);
    return object && viewOf(object, this.#cached.nodeConfigs.items.get(node), serves);
  }

  get knownNodes(): readonly RolloutNode[] {
    return [...this.#cached.nodes.items.keys()].flatMap((name) => this.knows(name) ?? []);
  }

  #observe(rules: Rules, observer: Observer): Omit<Facts, 'gates'> {
    const facts = observe(rules, this.#fleet.now, observer);
    if (facts === undefined) throw new Error('this fleet has more nodes than one look reads');
    return facts;
  }

  /** One look at a rollout, as `controller.ts` does it: the caller decides what becomes of each write, and may never resume it. @returns whether anything changed */
  *look(name: string): Generator<Sending, boolean, Write> {
    const { caches } = this.#observer;
    const cluster = this.#cluster;
    const rollout = caches.rollouts.get(name);
    if (rollout === undefined) return false;
    for (const key of [name, RECORD_KEY])
      if ([...(this.#own.get(key) ?? [])].some(([kind, version]) => this.#cached[kind].version < version)) return false;
    const touches = this.#observer.touches.rollout(name);
    if (touches.isBehind(rollout.status?.touches ?? {}, versionsOf(caches)) || cluster?.isBehind(caches) === true) return false;
    const rules = rulesRead(rollout);
    const planned = plan({ ...this.#observe(rules, this.#observer), gates: undefined });
    if (planned === undefined) throw new Error('this fleet has more nodes than one look places');
    // What was followed from look to look is what is there.
    if ((this.#looks += 1) % 7 === 0)
      assert.deepEqual(planned, plan({ ...this.#observe(rules, { ...this.#observer, fleets: new Fleets() }), gates: undefined }));
    this.wakeIn = Math.min(Infinity, ...planned.wakeUps.map(({ requeueAfter }) => requeueAfter));
    cluster?.turns.said(name, planned.waitsForPlace, this.#fleet.time);
    const { status, actions, record } = planned;
    const isNews = !jsonEqual(status, rollout.status ?? {});
    if (!isNews && actions.length === 0 && record === undefined) return false;
    const written: NodeConfigRollout = { ...rollout, status };
    try {
      if (record !== undefined) yield* this.#record(name, record);
      yield* this.#send({ what: `status: ${status.phase} ${status.message}`, rollout: name, send: () => this.#fleet.writeStatus(written) }, 'rollouts'); // prettier-ignore
      touches.wrote(status.touches?.nodes ?? []);
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error;
      return true;
    }
    const until = this.#fleet.time + TOUCH_MS;
    for (const action of actions) {
      if (this.#fleet.time > until && (action.do === 'assign' || action.do === 'drain')) continue;
      try {
        yield* this.#execute(rules, action);
      } catch (error) {
        // The others have their turn all the same.
        if (!(error instanceof NotWritten)) throw error;
      }
    }
    return isNews || actions.some((action) => action.do !== 'drain');
  }

  *#record(rollout: string, data: Record<string, string>): Generator<Sending, void, Write> {
    const known = this.#observer.caches.configMaps.get(`dkc-system/${RECORD}`);
    const object = known === undefined ? newRecord('dkc-system', data) : { ...known, data: { ...known.data, ...data } };
    yield* this.#send(
      { what: `record ${data['touches'] ?? ''}`, rollout, send: () => this.#fleet.writeConfigMap(object) },
      'configMaps',
      RECORD_KEY,
    );
    this.#cluster?.wrote(data);
  }

  *#send(sending: Sending, kind: Kind, owner = sending.rollout): Generator<Sending, void, Write> {
    const answer = yield sending;
    if (answer === 'refused') throw new NotWritten('refused');
    sending.send();
    if (answer === 'answer lost') throw new NotWritten('answer lost');
    const own = this.#own.get(owner) ?? new Map<Kind, number>();
    this.#own.set(owner, own.set(kind, this.#fleet.version));
  }

  *#execute(rules: Rules, action: Action): Generator<Sending, void, Write> {
    const fleet = this.#fleet;
    const { name: rollout } = rules;
    const at = rfc3339(fleet.now);
    if (!('node' in action)) {
      const { name = '' } = action.revision.metadata;
      const send = (): void => {
        if (action.do === 'create-revision') fleet.createRevision(action.revision);
        if (action.do === 'number-revision') fleet.annotateRevision(name, { 'dkc.dev/revision': String(action.number) });
        if (action.do === 'retry-revision') fleet.annotateRevision(name, { 'dkc.dev/retry': action.retry });
        if (action.do === 'delete-revision') fleet.deleteRevision(name);
      };
      return yield* this.#send({ what: `${action.do} ${name}`, rollout, action, send }, 'configMaps');
    }
    const { node } = action;
    const about = { rollout, node, action };
    switch (action.do) {
      case 'assign':
        yield* this.#send({ ...about, what: `assign ${node.node} ${action.revision ?? 'local'}`, send: () => fleet.assign(rollout, node, action.revision, at) }, 'nodeConfigs'); // prettier-ignore
        this.#drains.get(rollout)?.delete(node.node);
        return;
      case 'restart-deadline':
        return yield* this.#send({ ...about, what: `restart-deadline ${node.node}`, send: () => fleet.restartDeadline(node, at) }, 'nodeConfigs'); // prettier-ignore
      case 'plan-maintenance':
        return yield* this.#send(
          { ...about, what: `plan ${node.node}`, send: () => fleet.plan(node, `${rules.name}/${rules.uid}`) },
          'nodes',
        );
      case 'give-back': {
        if (isPlannedBy(node, rules))
          return yield* this.#send({ ...about, what: `plan ${node.node} no more`, send: () => fleet.plan(node, undefined) }, 'nodes');
        const body = uncordonPatch(nodeOf(node), ownerOf(rules));
        if (body !== undefined) yield* this.#patch(about, 'give-back', body);
        this.#drains.get(rollout)?.delete(node.node);
        return;
      }
      case 'drain':
        return yield* this.#drain(rules, node, { ...about, revision: action.revision });
    }
  }

  *#drain(
    rules: Rules,
    node: RolloutNode,
    { revision, ...about }: Pick<Sending, 'rollout' | 'node' | 'action'> & Pick<DrainFor, 'revision'>,
  ): Generator<Sending, void, Write> {
    const fleet = this.#fleet;
    const record = recordOf(nodeOf(node));
    const states = this.#drains.get(rules.name) ?? new Map<string, DrainState & DrainFor>();
    this.#drains.set(rules.name, states);
    const say = (state: DrainState): void => void states.set(node.node, { ...state, revision, attempt: rules.attempt });
    say({ at: 'draining', why: 'pods are evicted' });
    if (record !== undefined && record.owner.uid !== rules.uid) return;
    if (record === undefined) return yield* this.#patch(about, 'cordon', cordonPatch(nodeOf(node), ownerOf(rules), fleet.now));
    if (record.startedAt === undefined || wasClockSet(record.startedAt, fleet.now, this.#gaps.look()))
      return yield* this.#patch(about, 'restart timer', timerPatch(nodeOf(node), fleet.now));
    const goneAt = fleet.nodes.get(node.node)?.podsGoneAt ?? 0;
    if (goneAt <= fleet.time) say({ at: 'drained' });
    else if (record.startedAt + rules.drainTimeoutMs <= fleet.now) say({ at: 'failed', error: 'Timeout' });
    else this.wakeIn = Math.min(this.wakeIn, 5_000, goneAt - fleet.time);
    if (states.get(node.node)?.at !== 'draining') this.wakeIn = 0;
  }

  *#patch(about: Pick<Sending, 'rollout' | 'node' | 'action'>, what: string, body: JsonObject): Generator<Sending, void, Write> {
    const fleet = this.#fleet;
    const { node, rollout } = about;
    if (node === undefined) return;
    const { annotations } = body['metadata'] as { annotations: Record<string, string | null> };
    const spec = body['spec'] as { unschedulable: boolean | null } | undefined;
    const send = (): void => {
      const found = fleet.nodes.get(node.node);
      if (found === undefined) throw new NotWritten(`${node.node} is gone`);
      if (what === 'cordon') found.podsGoneAt = fleet.time + fleet.random() * 60_000;
      fleet.patchNode(node, annotations, spec && spec.unschedulable === true);
    };
    yield* this.#send({ ...about, rollout, what: `${what} ${node.node}`, send }, 'nodes');
  }
}
