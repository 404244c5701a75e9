import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import type { Node, Pod } from '../types.ts';
import type { ExtenderConfig } from '../config/config.ts';
import { isJsonObject, type JsonObject } from '../../kube/api/json.ts';

/** A response violates the protocol. The message begins with the field: `FailedNodes["a"] must be a string, not a number`. */
export class AnswerError extends Error {
  override name = 'AnswerError';
}

/**
 * A value of a response, and its path. Absent and null both mean unset, as in Go.
 * Names of fields are matched in any case: extenders of all versions send `FailedNodes`, `failedNodes` or `failednodes`.
 */
class Field {
  readonly #value: unknown;
  readonly #path: string;

  constructor(value: unknown, path = '') {
    this.#value = value ?? undefined;
    this.#path = path;
  }

  get isPresent(): boolean {
    return this.#value !== undefined;
  }

  /** One field of an object. @param name - in its present spelling */
  in(name: string): Field {
    const object = this.#object();
    const path = this.#path === '' ? name : `${this.#path}.${name}`;
    if (object === undefined) return new Field(undefined, path);
    if (Object.hasOwn(object, name)) return new Field(object[name], path);
    const lower = name.toLowerCase();
    const key = Object.keys(object).find((key) => key.toLowerCase() === lower);
    return new Field(key === undefined ? undefined : object[key], path);
  }

  /** Entries of an object whose keys are data; their case counts. */
  *entries(): Iterable<[string, Field]> {
    for (const [key, value] of Object.entries(this.#object() ?? {})) yield [key, new Field(value, `${this.#path}[${JSON.stringify(key)}]`)];
  }

  /** Items of a list; undefined when there is none. */
  items(): readonly Field[] | undefined {
    const list: unknown = this.#value;
    if (list === undefined) return undefined;
    if (!Array.isArray(list)) throw this.wrong('a list');
    return list.map((item: unknown, index) => new Field(item, `${this.#path}[${index}]`));
  }

  /** '' when unset. */
  text(): string {
    if (this.#value === undefined) return '';
    if (typeof this.#value !== 'string') throw this.wrong('a string');
    return this.#value;
  }

  /** A string that must not be empty. */
  name(): string {
    const text = this.text();
    if (text === '') throw this.wrong('a string that is not empty');
    return text;
  }

  /** 0 when unset. Limited to 32 bits: more than any score or count needs, and sums stay exact. */
  whole(): number {
    const value = this.#value ?? 0;
    if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) >= 2 ** 31) throw this.wrong('a whole number of 32 bits');
    return value;
  }

  wrong(wanted: string): AnswerError {
    return new AnswerError(`${this.#path === '' ? 'the answer' : this.#path} must be ${wanted}, not ${kindOf(this.#value)}`);
  }

  #object(): JsonObject | undefined {
    if (this.#value === undefined) return undefined;
    if (!isJsonObject(this.#value)) throw this.wrong('an object');
    return this.#value;
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty one';
  return typeof value === 'object' ? 'an object' : typeof value === 'number' ? `the number ${value}` : `a ${typeof value}`;
}

/*
 * Requests to extenders and their responses, as in kube-scheduler: names of fields begin with a capital letter, because its types have no JSON tags.
 */

/** Response to `filter`. undefined: unset. */
export interface FilterAnswer {
  /** From `Nodes`. */
  readonly nodes: readonly string[] | undefined;
  /** From `NodeNames`. */
  readonly nodeNames: readonly string[] | undefined;
  /** Reasons by node. */
  readonly failed: ReadonlyMap<string, string>;
  /** Reasons by node, where preemption would not help. */
  readonly unresolvable: ReadonlyMap<string, string>;
  readonly error: string;
}

/** Response to `preempt`: victims by node. */
export type PreemptAnswer = ReadonlyMap<string, { readonly uids: readonly string[]; readonly violations: number }>;

/** @param namesOnly - the extender has its own cache of nodes (`nodeCacheCapable`) */
export function encodeNodes(pod: Readonly<Pod>, nodes: readonly Readonly<Node>[], namesOnly: boolean): string {
  return JSON.stringify({
    Pod: pod,
    Nodes: namesOnly ? null : { metadata: {}, items: nodes },
    NodeNames: namesOnly ? nodes.map(({ metadata }) => metadata.name) : null,
  });
}

export function encodeBinding({ name, namespace, uid }: Pick<PodInfo, 'name' | 'namespace' | 'uid'>, node: string): string {
  return JSON.stringify({ PodName: name, PodNamespace: namespace, PodUID: uid, Node: node });
}

/** @param uidsOnly - the extender has its own cache of nodes and pods (`nodeCacheCapable`) */
export function encodeCandidates(pod: Readonly<Pod>, candidates: readonly Candidate[], uidsOnly: boolean): string {
  const byNode = Object.fromEntries(
    candidates.map(({ node, victims, violations }) => [
      node,
      { Pods: victims.map((victim) => (uidsOnly ? { UID: victim.uid } : victim.pod)), NumPDBViolations: violations },
    ]),
  );
  return JSON.stringify({
    Pod: pod,
    NodeNameToVictims: uidsOnly ? null : byNode,
    NodeNameToMetaVictims: uidsOnly ? byNode : null,
  });
}

/** @throws {AnswerError} */
export function decodeFilter(answer: unknown): FilterAnswer {
  const said = new Field(answer);
  return {
    nodes:
      said
        .in('Nodes')
        .in('items')
        .items()
        ?.map((node) => node.in('metadata').in('name').name()) ?? (said.in('Nodes').isPresent ? [] : undefined),
    nodeNames: said
      .in('NodeNames')
      .items()
      ?.map((name) => name.name()),
    failed: texts(said.in('FailedNodes')),
    unresolvable: texts(said.in('FailedAndUnresolvableNodes')),
    error: said.in('Error').text(),
  };
}

/** @throws {AnswerError} */
export function decodePriorities(answer: unknown): { host: string; score: number }[] {
  return (new Field(answer).items() ?? []).map((one) => ({ host: one.in('Host').text(), score: one.in('Score').whole() }));
}

/** @returns the extender's error; '' for none. @throws {AnswerError} */
export function decodeBinding(answer: unknown): string {
  return new Field(answer).in('Error').text();
}

/** @throws {AnswerError} */
export function decodePreempt(answer: unknown): PreemptAnswer {
  const byNode = new Map<string, { uids: string[]; violations: number }>();
  for (const [node, victims] of new Field(answer).in('NodeNameToMetaVictims').entries()) {
    const uids = (victims.in('Pods').items() ?? []).map((pod) => pod.in('UID').name());
    const count = victims.in('NumPDBViolations');
    const violations = count.whole();
    if (violations < 0) throw count.wrong('0 or more');
    byNode.set(node, { uids, violations });
  }
  return byNode;
}

function texts(field: Field): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of field.entries()) found.set(key, value.text());
  return found;
}

export type Verb = 'filter' | 'prioritize' | 'bind' | 'preempt';

const verbKeys = { filter: 'filterVerb', prioritize: 'prioritizeVerb', bind: 'bindVerb', preempt: 'preemptVerb' } as const;

/** The path of a call after the prefix; '' if the extender is not called with this verb. */
export function verbOf(config: ExtenderConfig, verb: Verb): string {
  return config[verbKeys[verb]];
}

export function urlOf(config: ExtenderConfig, verb: Verb): string {
  return `${config.urlPrefix.replace(/\/+$/, '')}/${verbOf(config, verb)}`;
}

/** In the order of calls: ignorable extenders come last, so that they get only the nodes that are left. */
export function inOrder(configs: readonly ExtenderConfig[]): ExtenderConfig[] {
  return [...configs.filter(({ ignorable }) => !ignorable), ...configs.filter(({ ignorable }) => ignorable)];
}

/** Whether the extender is called for this pod: if it manages resources, only for pods with a request or limit of one of them. */
export function isInterested({ managedResources }: ExtenderConfig, { spec }: Readonly<Pod>): boolean {
  if (managedResources.length === 0) return true;
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({ resources }) =>
    managedResources.some(({ name }) => Object.hasOwn(resources?.requests ?? {}, name) || Object.hasOwn(resources?.limits ?? {}, name)),
  );
}
