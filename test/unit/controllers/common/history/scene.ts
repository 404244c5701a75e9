import { parseFaults } from '../../../../../apiserver/faults/fault.ts';
import { planHistory } from '../../../../../controllers/common/history/plan.ts';
import { executeHistory, type HistoryWriter } from '../../../../../controllers/common/history/execute.ts';
import {
  daemonSetHistory,
  HASH_LABEL,
  type History,
  type HistoryFacts,
  type HistoryPlan,
  type HistoryRules,
  type Revision,
} from '../../../../../controllers/common/history/contract.ts';
import { newRevision, revisionData } from '../../../../../controllers/common/history/revision.ts';
import { daemonSets, type KubeObject, type OwnerReference, type Resource } from '../../../../../kube/api/object.ts';
import { controllerRef, isControlledBy } from '../../../../../kube/controller/owners.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { pod, revision, words } from './notation.ts';
import { localApi, localClient } from '../../../../support/embedded-api.ts';

interface PodSet extends KubeObject {
  spec: { template: Record<string, unknown> };
  status?: { collisionCount?: number };
}

const REVISIONS = 'apps/controllerrevisions';
const PODS = '/pods';

/** The same revision with other owners. */
export const ownedBy =
  (...ownerReferences: OwnerReference[]) =>
  (revision: Revision): Revision => ({ ...revision, metadata: { ...revision.metadata, ownerReferences } });

/** A kind of sets, and how the history of one is kept. */
export type SetKind = { resource: Resource; rules: HistoryRules };

/** A set called ds on a server in this process, and what a controller's history does to it. */
export class HistoryScene {
  readonly api = localApi(new FakeClock(), { garbageCollection: false });
  /** `wrote controllerrevisions ds-a`, `deleted ...`, as the writer was told. */
  readonly told: string[] = [];
  readonly signal = new AbortController();
  /** Calls so far. */
  calls = 0;
  readonly #client = localClient(this.api, { clock: new FakeClock() });

  readonly #kind: SetKind;

  constructor(image: string, kind: SetKind = { resource: daemonSets, rules: daemonSetHistory }) {
    this.#kind = kind;
    const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image, terminationMessagePath: '/dev/termination-log' }] } }; // prettier-ignore
    this.api.add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } });
    this.api.add({
      apiVersion: 'apps/v1',
      kind: kind.resource.kind,
      metadata: { name: 'ds', namespace: 'ns' },
      spec: { selector: { matchLabels: { app: 'x' } }, template },
    });
  }

  get #sets(): string {
    return `apps/${this.#kind.resource.resource}`;
  }

  get set(): PodSet {
    return this.api.hooks.storage.get(this.#sets, 'ns/ds') as PodSet;
  }

  /** Revisions of the set, name#number=image as in {@link revision}, and pods. The images are those of the set's template with another in it. */
  with(revisions: string, pods = ''): this {
    const { resource, rules } = this.#kind;
    const ownerReferences = [controllerRef(this.set, resource)];
    for (const text of words(revisions)) {
      const { metadata, ...rest } = revision(text);
      const { uid: _, resourceVersion: _version, ...meta } = metadata;
      const { [HASH_LABEL]: hash, ...others } = meta.labels ?? {};
      const labels = { ...others, ...(hash === undefined ? {} : { [rules.hashLabel]: hash }) };
      const data = revisionData(this.template(/=([^@]+)/.exec(text)?.[1] ?? ''));
      this.api.add({ ...rest, data, metadata: { ...meta, labels, ownerReferences } });
    }
    for (const text of words(pods)) {
      const { uid: _, ...meta } = pod(text).metadata;
      const spec = { containers: [{ name: 'c', image: 'any' }] };
      this.api.add({ apiVersion: 'v1', kind: 'Pod', metadata: { ...meta, ownerReferences }, spec });
    }
    return this;
  }

  template(image: string): Record<string, unknown> {
    return JSON.parse(JSON.stringify(this.set.spec.template).replace(/"image":"[^"]*"/, `"image":"${image}"`)) as Record<string, unknown>;
  }

  /** What a cache that is up to date would give. */
  facts(): HistoryFacts {
    const { set } = this;
    const ours = <T extends KubeObject>(kind: string): T[] =>
      this.api.hooks.storage.list(kind).objects.filter((object) => isControlledBy(object, set)) as T[];
    return {
      owner: set,
      template: set.spec.template,
      collisionCount: set.status?.collisionCount,
      revisions: ours<Revision>(REVISIONS),
      pods: ours(PODS),
    };
  }

  writer(owner: KubeObject = this.set): HistoryWriter {
    return {
      client: new Proxy(this.#client, {
        get: (client, name) => {
          this.calls += 1;
          const call: unknown = Reflect.get(client, name);
          return typeof call === 'function' ? (call.bind(client) as unknown) : call;
        },
      }),
      owner,
      ownerResource: this.#kind.resource,
      wrote: ({ resource }, { metadata }) => this.told.push(`wrote ${resource} ${metadata.name}`),
      deleted: ({ resource }, { metadata }) => this.told.push(`deleted ${resource} ${metadata.name}`),
    };
  }

  plan(facts: HistoryFacts = this.facts()): HistoryPlan {
    return planHistory(facts, this.#kind.resource, this.#kind.rules);
  }

  /** One pass. @param facts - of a cache that may be behind */
  pass(facts: HistoryFacts = this.facts()): Promise<History> {
    return executeHistory(this.writer(facts.owner), this.plan(facts), this.signal.signal);
  }

  /**
   * A revision that nobody listed has the name that the set would give next.
   * @param change - what it is otherwise
   * @param counts - of collisions, for which names there are such revisions. @default the one of the status
   * @returns the last one's name
   */
  take(change: (revision: Revision) => Revision, counts: (number | undefined)[] = [this.set.status?.collisionCount]): string {
    const { owner, template } = this.facts();
    const { resource, rules } = this.#kind;
    const there = counts.map((collisionCount) => change(newRevision(owner, resource, { template, collisionCount }, 1, rules)));
    for (const revision of there) this.api.add(revision);
    return there.at(-1)?.metadata.name ?? '';
  }

  /** A revision with the data of another template. */
  readonly ofOther = (revision: Revision): Revision => ({ ...revision, data: revisionData(this.template('other')) });

  /** Everything that goes wrong from now on. */
  faults(...faults: object[]): void {
    this.api.hooks.setFaults(parseFaults(faults.map((fault) => ({ verb: '*', resource: '*', ...fault }))));
  }

  change(kind: 'set' | 'revision' | 'pod', name: string, to: (object: KubeObject) => KubeObject): void {
    const { storage } = this.api.hooks;
    const at = { set: this.#sets, revision: REVISIONS, pod: PODS }[kind];
    const object = storage.get(at, `ns/${name}`);
    if (object === undefined) throw new Error(`there is no ${kind} ${name}`);
    storage.put(at, `ns/${name}`, to(object));
  }

  /** All revisions there are, whoever's: `ds-a#1=image@hash`, by name. */
  get revisions(): string {
    const written = this.api.hooks.storage.list(REVISIONS).objects.map((object) => {
      const { metadata, data, revision: number } = object as Revision;
      const image = /"image":"([^"]*)"/.exec(JSON.stringify(data))?.[1];
      return `${metadata.name}#${number}=${image}@${metadata.labels?.[this.#kind.rules.hashLabel] ?? '-'}`;
    });
    return written.join(' ');
  }

  /** `p1@hash`, by name. */
  get pods(): string {
    const written = this.api.hooks.storage
      .list(PODS)
      .objects.map(({ metadata: { name, labels } }) => `${name}@${labels?.['controller-revision-hash']}`);
    return written.join(' ');
  }
}
