import { type MaybeSource, sourceText, type SpecSource } from '../../agent/checkpoint/source.ts';
import { sameSpec } from '../fleet/fleet-node.ts';
import { type Caches, copiesOf } from '../rollout/observe.ts';
import type { KubeletConfigs } from '../rollout/contract.ts';
import { kubeletConfigs } from '../rollout/kubelet-configs.ts';
import type { RolloutNode } from '../rollout/node.ts';
import { type ConfigMap, numberOf } from '../rollout/revision.ts';
import type { Rules } from '../rollout/rules.ts';
import {
  FLEET_VERSION,
  type PageChange,
  type PageDiff,
  type PageFinding,
  type PageNode,
  type PageNodeDetail,
  type PageRevision,
} from './contract.ts';
import type { History } from './node-events.ts';
import { conditionsOf, pageRollout } from './views.ts';
import {
  applyDefaults,
  closestKubeletVersion,
  compareConfigs,
  decode,
  needsDrain,
  newestKubeletVersion,
} from '../../agent/config/config.ts';
import type { KubeletVersion } from '../../agent/config/contract.ts';

const MAX_REVISIONS = 20;
const MAX_TEXT = 1_000;
/** Reasons of events in which an agent reports a problem. */
const FINDINGS = new Set(['KubeletConfigRefused', 'KubeletConfigCondemned', 'KubeletUnhealthy', 'KubeletConfigUnassignable']);
const PROBLEM_STATES = new Set<string>(['refused', 'condemned', 'fell-back', 'error']);

/** A node as the picture has it, with the objects that it was computed from. */
export interface NodeDetailInput {
  page: PageNode;
  node: RolloutNode;
  /** Of the rollout that has the node. */
  rules: Rules | undefined;
}

/** Computes the details of a node. Only reads caches; each comparison is computed once. */
export class NodeDetails {
  readonly #configMaps: Pick<Caches['configMaps'], 'get' | 'indexed'>;
  readonly #configs: KubeletConfigs = kubeletConfigs();
  readonly #diff = nodeDiffs();

  /** @param configMaps - of the namespace that agents read from */
  constructor(configMaps: Pick<Caches['configMaps'], 'get' | 'indexed'>) {
    this.#configMaps = configMaps;
  }

  of({ page, node, rules }: NodeDetailInput, history: History): PageNodeDetail {
    const conditions = conditionsOf(node);
    const drifted = conditions.find(({ of, type, status }) => of === 'NodeConfig' && type === 'Drifted' && status === 'True');
    return {
      version: FLEET_VERSION,
      node: page,
      drift: drifted === undefined ? null : { reason: drifted.reason, message: drifted.message, since: drifted.since },
      findings: [...this.#preflight(node), ...ofRollout(node, rules), ...ofAgent(page, history)],
      diff: this.#diffOf(node, rules),
      revisions: this.#revisions(node, rules),
      history: history.events,
      historyProblem: history.problem,
      conditions,
    };
  }

  #preflight({ wanted, kubeletVersion }: RolloutNode): PageFinding[] {
    const config = wanted === null ? undefined : this.#configMaps.get(keyOf(wanted));
    if (wanted === null || config === undefined) return [];
    return this.#configs
      .rejects(config, wanted.kubeletConfigKey, kubeletVersion)
      .map((text) => ({ by: 'preflight', text: text.slice(0, MAX_TEXT), at: '' }));
  }

  #diffOf({ wanted, active, kubeletVersion }: RolloutNode, rules: Rules | undefined): PageDiff | null {
    const isPending = !sameSpec(wanted, active);
    const before = isPending ? active : previousOf(active, rules);
    const after = isPending ? wanted : active;
    if (before === undefined) return null;
    const [from, to] = [this.#sideOf(before), this.#sideOf(after)];
    const names = { kind: isPending ? ('pending' as const) : ('last' as const), from: sourceText(before), to: sourceText(after) };
    const problem = from.problem || to.problem;
    if (problem !== '') return { ...names, effect: 'restart', fields: [], omitted: 0, problem };
    const key = after?.kubeletConfigKey ?? before?.kubeletConfigKey ?? '';
    const { fields, omitted } = this.#diff(from.side, to.side, key, kubeletVersion);
    const isDrained =
      rules?.drain === 'Always' || (rules?.drain === 'Auto' && fields.some((one) => needsDrain(one, versionOf(kubeletVersion))));
    const effect = fields.length === 0 ? 'none' : isDrained ? 'drain' : 'restart';
    return { ...names, effect, fields, omitted, problem: '' };
  }

  /** A configuration, as far as the API server has it. */
  #sideOf(source: MaybeSource | SpecSource): { side: Side; problem: string } {
    if (source === null) return { side: undefined, problem: '' };
    const side = this.#configMaps.get(keyOf(source));
    if (side === undefined) return { side, problem: `ConfigMap ${keyOf(source)} does not exist, or is not in the namespace of rollouts` };
    const isOther = 'uid' in source && (source.uid !== side.metadata.uid || source.resourceVersion !== side.metadata.resourceVersion);
    return { side, problem: isOther ? `ConfigMap ${keyOf(source)} has changed since the node applied it` : '' };
  }

  #revisions({ active, assigned, lastKnownGood }: RolloutNode, rules: Rules | undefined): PageRevision[] {
    if (rules === undefined) return [];
    const { revision, previousRevision } = rules.status;
    const isIt = (one: Readonly<ConfigMap>, source: MaybeSource): boolean => source?.uid !== undefined && source.uid === one.metadata.uid;
    return copiesOf({ configMaps: this.#configMaps }, rules)
      .toSorted((a, b) => numberOf(b) - numberOf(a))
      .slice(0, MAX_REVISIONS)
      .map((one) => ({
        number: numberOf(one),
        name: one.metadata.name ?? '',
        createdAt: one.metadata.creationTimestamp ?? '',
        role: one.metadata.name === revision ? 'current' : one.metadata.name === previousRevision ? 'previous' : '',
        node: isIt(one, active) ? 'active' : isIt(one, assigned) ? 'assigned' : isIt(one, lastKnownGood) ? 'last-known-good' : '',
      }));
  }
}

const keyOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

/** What the node used before the rollout's revision; undefined: the node does not use that revision. */
function previousOf(active: MaybeSource, rules: Rules | undefined): SpecSource | null | undefined {
  const { revision, previousRevision } = rules?.status ?? {};
  if (active === null || rules === undefined || active.name !== revision || previousRevision === revision) return undefined;
  return previousRevision === undefined ? null : { ...rules.configMap, name: previousRevision };
}

function ofRollout({ node }: RolloutNode, rules: Rules | undefined): PageFinding[] {
  const { failures } = rules === undefined ? { failures: [] } : pageRollout(rules);
  const failure = failures.findLast((one) => one.node === node);
  return failure === undefined ? [] : [{ by: 'rollout', text: failure.error.slice(0, MAX_TEXT), at: failure.at }];
}

/** The newest event of each reason, while the node has a problem. */
function ofAgent({ state }: PageNode, { events }: History): PageFinding[] {
  if (!PROBLEM_STATES.has(state)) return [];
  const found = events.filter(({ reason }) => FINDINGS.has(reason));
  return found
    .filter(({ reason }, at) => found.findIndex((one) => one.reason === reason) === at)
    .map(({ message, at }) => ({ by: 'agent', text: message.slice(0, MAX_TEXT), at }));
}

/** Max cached comparisons: of a few pairs of revisions for each kubelet version of a fleet. */
const MAX_ANSWERS = 64;
const MAX_FIELDS = 100;

/** A configuration: the data key of a ConfigMap, or undefined for the local one, which is not on the API server and counts as empty. */
type Side = Readonly<ConfigMap> | undefined;

interface Changes {
  fields: readonly PageChange[];
  /** Number of fields beyond MAX_FIELDS. */
  omitted: number;
}

/** Compares configurations as a kubelet of some version reads them, each pair once. */
function nodeDiffs(): (from: Side, to: Side, key: string, kubeletVersion: string) => Changes {
  const answers = new Map<string, Changes>();
  return (from, to, key, version) => {
    const name = JSON.stringify([idOf(from), idOf(to), key, version]);
    let answer = answers.get(name);
    if (answer === undefined) {
      if (answers.size >= MAX_ANSWERS) answers.clear();
      answers.set(name, (answer = changesOf(from, to, key, versionOf(version))));
    }
    return answer;
  };
}

const idOf = (side: Side): string => (side === undefined ? '' : `${side.metadata.uid}/${side.metadata.resourceVersion}`);

function changesOf(from: Side, to: Side, key: string, version: KubeletVersion): Changes {
  const written = (side: Side) => {
    const decoded = side === undefined ? undefined : decode(new TextEncoder().encode(side.data?.[key] ?? ''), version);
    // An invalid configuration counts as one that sets nothing; the findings report that it is invalid.
    return decoded?.ok ? decoded.written : {};
  };
  const differences = compareConfigs(applyDefaults(written(from), version), applyDefaults(written(to), version), { byKey: true });
  const fields = differences.slice(0, MAX_FIELDS).map(({ field, class: of, from: before, to: after }): PageChange => ({
    field: field.slice(0, 200),
    class: of,
    change: before === null ? 'set' : after === null ? 'removed' : 'changed',
  }));
  return { fields, omitted: differences.length - fields.length };
}

/** An unknown version is compared as the newest. */
function versionOf(text: string): KubeletVersion {
  try {
    return closestKubeletVersion(text).version;
  } catch {
    return newestKubeletVersion;
  }
}
