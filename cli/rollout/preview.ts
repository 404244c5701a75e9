import { configMaps, pods } from '../../kube/api/object.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { kubeletConfigs } from '../../controllers/rollout/kubelet-configs.ts';
import { isUnavailable } from '../../controllers/rollout/cluster/cluster.ts';
import { readRecord, RECORD } from '../../controllers/rollout/cluster/record.ts';
import { type RolloutNode, viewOf as nodeViewOf } from '../../controllers/rollout/node.ts';
import type { ConfigMap } from '../../controllers/rollout/revision.ts';
import { maxUnavailableOf, type Rules } from '../../controllers/rollout/rules.ts';
import { namesOf, nodesText } from '../../controllers/rollout/text.ts';
import type { NodeConfigRollout } from '../../controllers/rollout/types.ts';
import { type People, table } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import type { FleetObjects } from './fleet-objects.ts';
import { nodesOf, type StepView, viewOf } from './view.ts';
import { decidePod } from '../../controllers/rollout/drain/plan.ts';
import type { Pod } from '../../controllers/rollout/drain/contract.ts';

/** What a rollout would do to the current fleet. */
interface Preview {
  name: string;
  nodes: readonly RolloutNode[];
  maxUnavailable: number;
  steps: readonly StepView[];
  /** The ConfigMap exists and is readable. */
  hasSource: boolean;
  /** Nodes whose kubelet would reject it. */
  refused: readonly { node: string; why: string }[];
  skipsRefused: boolean;
  /** Nodes grouped by the changed fields that require a drain. */
  drains: readonly { fields: readonly string[]; nodes: readonly string[] }[];
  drain: Rules['drain'];
  /** Pods that would make a drain fail; absent: this user may not list pods. */
  blocking: BlockingPods | undefined;
  /** The controller's budget of unavailable nodes for the whole cluster; absent: it has none, or this user may not read its record. */
  cluster: { budget: string; size: number; most: number; unavailable: number } | undefined;
  /** Number of selected nodes that belong to an older rollout. */
  conflicts: number;
}

/** Maximum number of ConfigMaps in use that are read; a fleet has a few. */
const MAX_USED = 50;

/** @param object - the rollout as the server would store it. @throws ApiError, TransportError */
export async function preview(
  client: Pick<Client, 'get' | 'listEach'>,
  object: NodeConfigRollout,
  rules: Rules,
  fleet: FleetObjects,
  signal: AbortSignal,
): Promise<Preview> {
  const now = Date.parse(object.metadata.creationTimestamp ?? '');
  const nodes = nodesOf(object, rules, fleet);
  const all = nodesOf(object, rules, { ...fleet, rollouts: new Map() });
  const { steps } = viewOf(object, fleet, Number.isNaN(now) ? 0 : now);
  const read = reader(client, signal);
  const { namespace, name, kubeletConfigKey } = rules.configMap;
  const source = await read(namespace, name);
  const record = await read(namespace, RECORD);
  const configs = kubeletConfigs();
  const refused: { node: string; why: string }[] = [];
  const drained = new Map<string, { fields: readonly string[]; nodes: string[] }>();
  for (const { node, active, kubeletVersion } of source === undefined ? [] : nodes) {
    if (source === undefined || kubeletVersion === '') continue;
    const why = configs.rejects(source, kubeletConfigKey, kubeletVersion);
    if (why.length > 0) refused.push({ node, why: `kubelet ${kubeletVersion}: ${why.join('; ')}` });
    const used = active === null ? undefined : await read(active.namespace, active.name);
    const fields = configs.needsDrain(
      used && { map: used, key: active?.kubeletConfigKey ?? '' },
      { map: source, key: kubeletConfigKey },
      kubeletVersion,
    );
    if (fields.length === 0) continue;
    const same = drained.get(fields.join());
    if (same === undefined) drained.set(fields.join(), { fields, nodes: [node] });
    else same.nodes.push(node);
  }
  const needsDrain = rules.drain === 'Auto' ? [...drained.values()].flatMap((one) => one.nodes) : nodes.map(({ node }) => node);
  const blocking = await blockingPods(client, new Set(rules.drain === 'Never' ? [] : needsDrain), rules, signal);
  return {
    name: rules.name,
    nodes,
    maxUnavailable: maxUnavailableOf(rules, nodes.length),
    steps,
    hasSource: source !== undefined,
    refused,
    skipsRefused: rules.skipInvalidNodes,
    drains: [...drained.values()],
    drain: rules.drain,
    blocking,
    cluster: record && clusterOf(readRecord(record).maxUnavailable, fleet),
    conflicts: all.length - nodes.length,
  };
}

function clusterOf(budget: string, { nodes, nodeConfigs, serves }: FleetObjects): Preview['cluster'] {
  const unavailable = [...nodes].filter(([name, node]) => isUnavailable(nodeViewOf(node, nodeConfigs.get(name), serves))).length;
  return { budget, size: nodes.size, most: maxUnavailableOf({ maxUnavailable: budget }, nodes.size), unavailable };
}

/** Reads each ConfigMap once; undefined: it does not exist or this user may not read it. */
export function reader(
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): (namespace: string, name: string) => Promise<ConfigMap | undefined> {
  const read = new Map<string, Promise<ConfigMap | undefined>>();
  return (namespace, name) => {
    const key = `${namespace}/${name}`;
    let known = read.get(key);
    if (known === undefined) {
      if (read.size >= MAX_USED) return Promise.resolve(undefined);
      known = client.get<ConfigMap>(configMaps, { namespace, name }, { signal }).catch((error: unknown) => {
        if (isNotFound(error) || isForbidden(error)) return undefined;
        throw error;
      });
      read.set(key, known);
    }
    return known;
  };
}

function clusterText({ budget, size, most, unavailable }: NonNullable<Preview['cluster']>): string {
  const of = budget.endsWith('%') ? `, ${budget} of ${size}` : '';
  return `over all rollouts, at most ${nodesText(most)} of the whole cluster unavailable at once (${unavailable} now${of})`;
}

/** The plan for people: a line per step, then the obstacles. */
export async function previewText(plan: Preview, how: People): Promise<string> {
  const { nodes, steps, refused, drains, conflicts, drain, blocking, cluster } = plan;
  const lines = [`${printable(plan.name)}: ${nodesText(nodes.length)} selected, at most ${plan.maxUnavailable} unavailable at once`];
  if (cluster !== undefined) lines.push(clusterText(cluster));
  if (conflicts > 0) lines.push(`${nodesText(conflicts)} also selected by older rollouts, and left to them`);
  let total = 0;
  const rows = steps.map((step) => ({ step, total: (total += step.nodes.length) }));
  const text = await table(
    [
      { title: 'STEP', value: ({ step }) => String(step.step) },
      { title: 'NODES', value: ({ step }) => step.text },
      { title: 'ADDS', value: ({ step }) => String(step.nodes.length) },
      { title: 'TOTAL', value: (row) => `${row.total}/${nodes.length}` },
      {
        title: 'WHO',
        value: ({ step }) => (how.wide ? step.nodes.map(({ node }) => node).join(', ') : namesOf(step.nodes.map(({ node }) => node))),
      },
    ],
    rows,
    how,
  );
  const after: string[] = [];
  if (!plan.hasSource)
    after.push('The ConfigMap does not exist or cannot be read, so dkc cannot tell which nodes would reject it and which need a drain.');
  if (refused.length > 0) {
    const what = plan.skipsRefused ? 'they are skipped' : 'no node would be touched; --skip-invalid-nodes skips them';
    after.push(`${nodesText(refused.length)} would reject the configuration (${what}):`);
    for (const [why, of] of Map.groupBy(refused, (one) => one.why)) after.push(`  ${namesOf(of.map(({ node }) => node))}: ${why}`);
  } else if (plan.hasSource && nodes.length > 0) after.push('No kubelet would reject the configuration.');
  const verb = drain === 'Never' ? 'would need a drain and would not be drained (drain: Never)' : 'would be drained';
  for (const { fields, nodes: of } of drains) after.push(`${nodesText(of.length)} ${verb} for ${fields.join(', ')}: ${namesOf(of)}`);
  if (drain === 'Always') after.push('Every node would be drained (drain: Always).');
  else if (plan.hasSource && nodes.length > 0 && drains.length === 0) after.push('No changed field needs a drain.');
  if (blocking === undefined) after.push('Pods that would block a drain are not listed: this user may not list pods.');
  else if (blocking.count > 0) {
    after.push(
      `${blocking.count} ${blocking.count === 1 ? 'pod' : 'pods'} would block the drain of ${nodesText(blocking.nodes)} (spec.drainPolicy):`,
    );
    after.push(...blocking.named.map((pod) => `  ${pod}`), ...(blocking.count > blocking.named.length ? [`  and ${blocking.count - blocking.named.length} more`] : [])); // prettier-ignore
  }
  for (const state of ['not-ready', 'no-agent'] as const) {
    const names = steps.flatMap((step) => step.nodes.filter((one) => one.state === state).map(({ node }) => node));
    if (names.length > 0)
      after.push(`${nodesText(names.length)} ${state === 'not-ready' ? 'not Ready' : 'without an agent'}: ${namesOf(names)}`);
  }
  return `${lines.map(printable).join('\n')}\n\n${text}\n${after.map((line) => `${printable(line)}\n`).join('')}`;
}

/** Maximum number of pods named; the others are counted. */
const MAX_NAMED = 20;

/** Pods that would make a drain fail. */
interface BlockingPods {
  count: number;
  nodes: number;
  /** `NAMESPACE/NAME on NODE has no controller`: the first ones. */
  named: readonly string[];
}

/**
 * Pods on these nodes that the drain policy does not evict. Lists all pods of the cluster once, page by page.
 * @returns undefined if this user may not list pods
 * @throws ApiError, TransportError
 */
async function blockingPods(
  client: Pick<Client, 'listEach'>,
  nodes: ReadonlySet<string>,
  { drainPods, drainTimeoutMs }: Pick<Rules, 'drainPods' | 'drainTimeoutMs'>,
  signal: AbortSignal,
): Promise<BlockingPods | undefined> {
  const policy = { ...drainPods, timeoutMs: drainTimeoutMs };
  const on = new Set<string>();
  const named: string[] = [];
  let count = 0;
  const take = (pod: Pod): void => {
    const node = pod.spec?.nodeName;
    if (node === undefined || !nodes.has(node)) return;
    const decision = decidePod(pod, policy, undefined, 0);
    if (decision.pod !== 'block') return;
    count += 1;
    on.add(node);
    if (named.length < MAX_NAMED) named.push(`${decision.ref.namespace}/${decision.ref.name} on ${node} ${decision.why}`);
  };
  if (nodes.size > 0) {
    try {
      await client.listEach<Pod>(pods, {}, take, { signal });
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw error;
    }
  }
  return { count, nodes: on.size, named };
}
