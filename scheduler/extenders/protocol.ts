import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import type { Node, Pod } from '../types.ts';
import { Field } from './fields.ts';
import type { ExtenderConfig } from '../config/config.ts';

/*
 * What is said to extenders and what they answer, as kube-scheduler has it: names of fields begin with a capital letter, for its types give them no other.
 */

/** Of a `filter`. What is undefined was not said. */
export interface FilterAnswer {
  /** From `Nodes`. */
  readonly nodes: readonly string[] | undefined;
  /** From `NodeNames`. */
  readonly nodeNames: readonly string[] | undefined;
  /** Reasons by node. */
  readonly failed: ReadonlyMap<string, string>;
  /** Likewise, where taking pods away would not help. */
  readonly unresolvable: ReadonlyMap<string, string>;
  readonly error: string;
}

/** Of a `preempt`: victims by node. */
export type PreemptAnswer = ReadonlyMap<string, { readonly uids: readonly string[]; readonly violations: number }>;

/** @param namesOnly - it has a cache of nodes of its own */
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

/** @param uidsOnly - it has a cache of pods of its own */
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
        ?.map((node) => node.in('metadata').in('name').name()) ?? (said.in('Nodes').isSaid ? [] : undefined),
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
  return (new Field(answer).items() ?? []).map((one) => ({ host: one.in('Host').name(), score: one.in('Score').whole() }));
}

/** @returns what went wrong there; '' for nothing. @throws {AnswerError} */
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

/** The path of a call behind its prefix; '' where the extender is not asked that. */
export function verbOf(config: ExtenderConfig, verb: Verb): string {
  return config[verbKeys[verb]];
}

export function urlOf(config: ExtenderConfig, verb: Verb): string {
  return `${config.urlPrefix.replace(/\/+$/, '')}/${verbOf(config, verb)}`;
}

/** In the order in which they are asked: those that nothing depends on come last, so that they see what is left. */
export function inOrder(configs: readonly ExtenderConfig[]): ExtenderConfig[] {
  return [...configs.filter(({ ignorable }) => !ignorable), ...configs.filter(({ ignorable }) => ignorable)];
}

/** Whether it wants to be asked about this pod: where it manages resources, only those that want or may use one of them. */
export function isInterested({ managedResources }: ExtenderConfig, { spec }: Readonly<Pod>): boolean {
  if (managedResources.length === 0) return true;
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({ resources }) =>
    managedResources.some(({ name }) => Object.hasOwn(resources?.requests ?? {}, name) || Object.hasOwn(resources?.limits ?? {}, name)),
  );
}
