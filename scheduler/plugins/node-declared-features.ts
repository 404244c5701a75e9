import type { Container, PodSpec } from 'kubernetes-types/core/v1.js';
import type { Node } from '../types.ts';
import type { Rejection } from './names.ts';

/** A container with a field of API servers from 1.34 on, which the type package lacks. */
type ContainerWithRules = Container & { readonly restartPolicyRules?: readonly { readonly action?: string }[] };

const undeclared: Rejection = {
  plugin: 'NodeDeclaredFeatures',
  resolvable: false,
  reasons: ["node(s) didn't match Pod's required features"],
};

const none: readonly string[] = [];

/**
 * Features that the kubelet must have for this pod, by the names under which nodes declare them (`status.declaredFeatures`, from 1.35 on). A kubelet without
 * them fails the pod. Other declared features matter only to updates of pods.
 * @see https://kep.k8s.io/5328
 */
export function requiredFeatures(spec: Readonly<PodSpec> | undefined): readonly string[] {
  if (spec === undefined) return none;
  const { hostUsers, hostNetwork, containers, initContainers } = spec;
  const restartsAll = hasRestartRule(containers) || (initContainers !== undefined && hasRestartRule(initContainers));
  const sharesNetwork = hostUsers === false && hostNetwork === true;
  if (!restartsAll && !sharesNetwork) return none;
  return [...(restartsAll ? ['RestartAllContainersOnContainerExits'] : []), ...(sharesNetwork ? ['UserNamespacesHostNetworkSupport'] : [])];
}

/** Rejects a node that does not declare all required features. @param required - result of {@link requiredFeatures} */
export function nodeDeclaredFeatures(required: readonly string[], node: Readonly<Node>): Rejection | undefined {
  if (required.length === 0) return undefined;
  const declared = declaredFeaturesOf(node);
  return required.every((feature) => declared.includes(feature)) ? undefined : undeclared;
}

export function declaredFeaturesOf({ status }: Readonly<Node>): readonly string[] {
  return (status as { readonly declaredFeatures?: readonly string[] } | undefined)?.declaredFeatures ?? none;
}

function hasRestartRule(containers: readonly ContainerWithRules[]): boolean {
  for (const { restartPolicyRules } of containers)
    if (restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers')) return true;
  return false;
}
