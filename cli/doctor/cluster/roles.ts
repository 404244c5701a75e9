import { DEPLOY, differenceOf } from './definitions.ts';
import { type Check, failed, ok, type Seen, skipped, someOf, the, type Verdict, warning } from '../check.ts';
import { type Right, rightsText } from '../../process/check-rights.ts';
import { NODE_GROUP } from '../../../deploy/rights.ts';
import type { Rule } from '../../../deploy/rights.ts';
import { isJsonObject } from '../../../kube/api/json.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

/** A manifest of dkc, and the object of this name in the cluster. */
export interface Pair {
  expected: KubeObject;
  actual: Seen<KubeObject | undefined>;
}

export interface RoleFacts {
  /** Roles and bindings of the group of all nodes, which apply to all agents. */
  agents: readonly Pair[];
  /** Names of ClusterRoleBindings `dkc:node:NAME`, one for each node. */
  byName: Seen<readonly string[]>;
  nodes: Seen<readonly string[]>;
  /** Roles of users and of the rollout controller. */
  people: readonly Pair[];
  /** Policy and binding; empty if the server does not serve these kinds. */
  admission: readonly Pair[];
  /** Rights that the caller lacks. */
  missing: Seen<readonly Right[]>;
}

/** Name prefix of the roles and bindings of one node; deploy/rights.ts. */
export const NODE_ROLE = 'dkc:node:';

export const roleChecks: readonly Check<RoleFacts>[] = [
  { name: 'agent-roles', wants: 'agents have their RBAC roles, as a group or each by name', decide: agentRoles },
  { name: 'roles', wants: 'the roles for people and for the rollout controller grant all rights that they should', decide: otherRoles },
  { name: 'admission-policy', wants: 'an admission policy lets each node write only the status of its own NodeConfig', decide: admission },
  { name: 'caller-rights', wants: 'this user may assign configurations and create rollouts', decide: callerRights },
];

function agentRoles({ agents, byName, nodes }: RoleFacts): Verdict {
  const missing = agents.filter(({ actual }) => the(actual) === undefined);
  const bound =
    missing.length < agents.length &&
    agents.some(({ expected, actual }) => expected.kind === 'ClusterRoleBinding' && the(actual) !== undefined);
  if (bound) {
    const [weak] = missing.length > 0 ? missing.map(({ expected }) => `there is no ${nameOf(expected)}`) : agents.flatMap(weakness);
    return weak === undefined ? ok(`all nodes, through the group ${NODE_GROUP}`) : failed(weak, DEPLOY);
  }
  const named = new Set(the(byName).map((name) => name.slice(NODE_ROLE.length)));
  if (named.size === 0) return failed('agents cannot read their NodeConfigs: the roles for agents do not exist', DEPLOY);
  // The names become part of a command line.
  const without = the(nodes).filter((node) => !named.has(node) && /^[-.a-z0-9]+$/.test(node));
  if (without.length === 0) return ok(`${named.size} ${named.size === 1 ? 'node' : 'nodes'}, each by name`);
  return failed(
    `agents of ${without.length} ${without.length === 1 ? 'node' : 'nodes'} have no rights: ${someOf(without)}`,
    `dkc deploy manifests --only=rbac --nodes=${without.slice(0, 3).join(',')}${without.length > 3 ? ',...' : ''} | kubectl apply -f -, with the same --credentials as for the other nodes`,
  );
}

function otherRoles({ people }: RoleFacts): Verdict {
  const missing = people.filter(({ actual }) => the(actual) === undefined).map(({ expected }) => nameOf(expected));
  if (missing.length > 0) return failed(`there is no ${someOf(missing)}`, DEPLOY);
  const weak = people.flatMap(weakness);
  return weak.length === 0 ? ok(`${people.length} roles`) : failed(someOf(weak, 3), DEPLOY);
}

/** Rules or subjects that the role or binding in the cluster lacks. */
function weakness({ expected, actual }: Pair): string[] {
  const found = the(actual);
  if (found === undefined) return [];
  if (expected['rules'] === undefined) {
    const { lacks } = differenceOf({ roleRef: expected['roleRef'] }, { roleRef: found['roleRef'] });
    const subjects = new Set(listOf(found['subjects']).map(subjectText));
    const lost = listOf(expected['subjects']).map(subjectText).filter((one) => !subjects.has(one)); // prettier-ignore
    return lacks.length > 0
      ? [`${nameOf(expected)} binds a different role`]
      : lost.map((one) => `${nameOf(expected)} does not bind ${one}`);
  }
  const theirRules = listOf(found['rules']);
  const lost = permissionsOf(expected['rules'] as readonly Rule[]).filter((wish) => !theirRules.some((rule) => grants(rule, wish)));
  return lost.length === 0 ? [] : [`${nameOf(expected)} does not grant ${someOf(lost.map(({ verb, resource }) => `${verb} ${resource}`), 3)}`]; // prettier-ignore
}

const subjectText = (one: Readonly<Record<string, unknown>>): string => [one['kind'], one['namespace'], one['name']].filter((part) => typeof part === 'string').join(' '); // prettier-ignore

interface Permission {
  group: string;
  resource: string;
  verb: string;
}

const permissionsOf = (rules: readonly Rule[]): Permission[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb })))),
  );

/** A rule with resourceNames grants less than ours, which have none. */
function grants(rule: Readonly<Record<string, unknown>>, { group, resource, verb }: Permission): boolean {
  const has = (list: unknown, ...words: string[]): boolean =>
    Array.isArray(list) && words.some((word) => (list as readonly unknown[]).includes(word));
  const names = rule['resourceNames'];
  if (Array.isArray(names) && names.length > 0) return false;
  const [, subresource] = resource.split('/');
  return has(rule['apiGroups'], group, '*') && has(rule['verbs'], verb, '*') && has(rule['resources'], resource, '*', ...(subresource === undefined ? [] : [`*/${subresource}`])); // prettier-ignore
}

function admission({ admission, agents }: RoleFacts): Verdict {
  const isForAll = agents.some(
    ({ expected, actual }) => expected.kind === 'ClusterRoleBinding' && 'seen' in actual && actual.seen !== undefined,
  );
  if (admission.length === 0)
    return isForAll
      ? warning(
          'API servers before 1.30 have no admission policies, so every node can write the status of all NodeConfigs',
          'give each node its rights by name: dkc deploy manifests --only=rbac --nodes=A,B; docs/operations.md, "Rights"',
        )
      : skipped('API servers before 1.30 have no admission policies');
  const missing = admission.filter(({ actual }) => the(actual) === undefined).map(({ expected }) => nameOf(expected));
  if (missing.length > 0)
    return (isForAll ? failed : warning)(
      `there is no ${missing.join(' and no ')}: a node can write the status of other nodes' NodeConfigs`,
      DEPLOY,
    );
  const changed = admission
    .filter(({ expected, actual }) => differenceOf(expected['spec'], the(actual)?.['spec']).lacks.length > 0)
    .map(({ expected }) => nameOf(expected));
  if (changed.length > 0) return warning(`${someOf(changed)} differs from that of this version of dkc`, DEPLOY);
  return ok(admission.map(({ expected }) => nameOf(expected)).join(', '));
}

function callerRights({ missing }: RoleFacts): Verdict {
  const all = the(missing);
  if (all.length === 0) return ok('this user has the rights');
  return warning(
    `this user lacks the rights: ${rightsText(all)}`,
    'ask an administrator to bind this user to the roles dkc-assign and dkc-rollout: docs/operations.md, "Rights"; or use another kubeconfig',
  );
}

function nameOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind ?? ''} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
}

const listOf = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];
