import { seededRandom } from '../../../../base/random.ts';
import { parseSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import { fitErrorText } from '../../../../scheduler/engine/rejections.ts';
import type { Namespace, Node, Pod } from '../../../../scheduler/types.ts';
import { engineSubject } from '../../../unit/scheduler/engine/subject.ts';
import { emptyCluster } from '../../../unit/scheduler/oracle/cluster.ts';
import { evaluate } from '../../../unit/scheduler/oracle/evaluate.ts';
import { eventsOf } from '../../../unit/scheduler/oracle/generate.ts';
import type { Points, Scored } from './score-log.ts';

export interface State {
  nodes: readonly Node[];
  pods: readonly Pod[];
}

/**
 * The same question to the two parts that our scheduler is held together by, without a server between: points of the nodes that would do, or why none would.
 * @param config - what our scheduler was given, as YAML. @param names - kube-scheduler's for our plugins, where they are others. @param namespaces - with labels
 */
export function coreWith(config: string, names: Readonly<Record<string, string>>, namespaces: readonly Namespace[]) {
  const read = parseSchedulerConfig(config);
  if (!read.ok) throw new Error(read.problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const [profile] = read.config.profiles.values();
  if (profile === undefined) throw new Error('there is no profile');
  const clusterOf = ({ nodes, pods }: State) => ({ ...emptyCluster, namespaces, nodes, pods: pods.filter(isPlaced) });
  return {
    engine: (state: State, pod: Pod): { total: Points; refused: string; node: string } => {
      const engine = engineSubject(seededRandom(1), []);
      for (const event of eventsOf(clusterOf(state))) engine.happened(event);
      const { totals, error } = engine.evaluate(pod, profile);
      const decision = engine.decide(pod, profile);
      if (decision.placed) return { total: totals, refused: '', node: decision.node };
      return { total: totals, refused: fitErrorText(totals.size > 0 ? decision.error : error), node: '' };
    },
    /** Its points by the names that kube-scheduler has for who gives them. */
    oracle: (state: State, pod: Pod): Scored & { refused: string } => {
      const { totals, byPlugin, message } = evaluate(clusterOf(state), pod, profile);
      return { total: totals, each: new Map([...byPlugin].map(([name, points]) => [names[name] ?? name, points])), refused: message };
    },
  };
}

const isPlaced = ({ spec }: Readonly<Pod>): boolean => (spec?.nodeName ?? '') !== '';
