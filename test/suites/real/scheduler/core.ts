import { seededRandom } from '../../../../base/random.ts';
import { Cluster } from '../../../../scheduler/cache/cluster.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { parseSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import { Engine } from '../../../../scheduler/engine/engine.ts';
import { fitErrorText } from '../../../../scheduler/engine/rejections.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Namespace, Node, Pod } from '../../../../scheduler/types.ts';
import { emptyCluster } from '../../../unit/scheduler/oracle/cluster.ts';
import { evaluate } from '../../../unit/scheduler/oracle/evaluate.ts';
import type { Points, Scored } from './score-log.ts';

/** What is to be said of a pod: points of the nodes that would do, or why none would. */
export type Evaluation = Scored & { refused: string };

/** The same question to the two parts that our scheduler is held together by, without a server between. */
export interface Core {
  engine(state: State, pod: Readonly<Pod>): { total: Points; refused: string; node: string };
  /** Its points by the names that kube-scheduler has for who gives them. */
  oracle(state: State, pod: Readonly<Pod>): Evaluation;
}

export interface State {
  nodes: readonly Node[];
  pods: readonly Pod[];
}

/** @param config - what our scheduler was given, as YAML. @param names - kube-scheduler's for our plugins, where they are others. @param namespaces - with labels */
export function coreWith(config: string, names: Readonly<Record<string, string>>, namespaces: readonly Namespace[] = []): Core {
  const read = parseSchedulerConfig(config);
  if (!read.ok) throw new Error(read.problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const [profile] = read.config.profiles.values();
  if (profile === undefined) throw new Error('there is no profile');
  return {
    engine: (state, pod) => decided(state, pod, profile, read.config.compat, namespaces),
    oracle: ({ nodes, pods }, pod) => {
      const { totals, byPlugin, message } = evaluate({ ...emptyCluster, namespaces, nodes, pods: pods.filter(isPlaced) }, pod, profile);
      return { total: totals, each: new Map([...byPlugin].map(([name, points]) => [names[name] ?? name, points])), refused: message };
    },
  };
}

function decided(
  { nodes, pods }: State,
  pod: Readonly<Pod>,
  profile: ProfileConfig,
  compat: ConstructorParameters<typeof Engine>[0]['compat'],
  namespaces: readonly Namespace[],
) {
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels]));
  const cluster = new Cluster((name) => labels.get(name));
  for (const node of nodes) cluster.setNode(node);
  for (const placed of pods.filter(isPlaced)) cluster.addPod(podInfoOf(placed));
  const volumes = { key: () => '', prepare: () => undefined };
  const nominations = { nodes: [], on: () => [] };
  const engine = new Engine({ cluster, random: seededRandom(1), compat, defaultSelectorOf: () => undefined, nominations, volumes });
  const { totals, error } = engine.evaluate(podInfoOf(pod), profile);
  const decision = engine.decide(podInfoOf(pod), profile);
  if (decision.placed) return { total: totals, refused: '', node: decision.node };
  return { total: totals, refused: fitErrorText(totals.size > 0 ? decision.error : error), node: '' };
}

const isPlaced = ({ spec }: Readonly<Pod>): boolean => (spec?.nodeName ?? '') !== '';
