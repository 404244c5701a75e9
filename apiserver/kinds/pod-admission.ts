import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { forbidden } from '../status-error.ts';
import type { RuleContext, Stored } from './kind.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';

/*
 * What the admission plugins of every cluster do to pods: Priority and DefaultTolerationSeconds.
 */

const PRIORITY_CLASSES = 'scheduling.k8s.io/priorityclasses';

/** Sets the priority that the pod's class says, or the default one. @throws StatusError 403 for an unknown class or a number of its own */
export function withPriority(pod: KubeObject, { stored }: RuleContext): KubeObject {
  const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
  const refuse = (why: string) => forbidden({ group: '', resource: 'pods' }, pod.metadata.name ?? '', why);
  const asked = textAt(spec, 'priorityClassName');
  const found = asked === '' ? defaultClass(stored) : stored.get(PRIORITY_CLASSES, asked);
  if (asked !== '' && found === undefined) throw refuse(`no PriorityClass with name ${asked} was found`);
  const priority = Number(fieldAt(found, 'value') ?? 0);
  const given = spec['priority'];
  if (given !== undefined && given !== priority) {
    throw refuse(
      `the integer value of priority (${textAt(spec, 'priority')}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  const policy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority';
  const own = textAt(spec, 'preemptionPolicy');
  if (own !== '' && own !== policy) {
    throw refuse(
      `the string value of PreemptionPolicy (${own}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  const name = found?.metadata.name ?? '';
  return { ...pod, spec: { ...spec, ...(name === '' ? {} : { priorityClassName: name }), priority, preemptionPolicy: policy } };
}

/** The class of pods that name none: of several the one of least value. */
function defaultClass(stored: Stored): KubeObject | undefined {
  const defaults = stored.list(PRIORITY_CLASSES).objects.filter((one) => one['globalDefault'] === true);
  return defaults.sort((a, b) => Number(a['value']) - Number(b['value']))[0];
}

const tolerated = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Unless it says otherwise, a pod stays five minutes on a node that is lost. */
export function withDefaultTolerations(spec: Record<string, unknown>): Record<string, unknown> {
  const own = listAt(spec, 'tolerations');
  const missing = tolerated.filter((key) => !own.some((one) => tolerates(one, key)));
  if (missing.length === 0) return spec;
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  return { ...spec, tolerations: [...own, ...added] };
}

function tolerates(toleration: unknown, key: string): boolean {
  return ['', key].includes(textAt(toleration, 'key')) && ['', 'NoExecute'].includes(textAt(toleration, 'effect'));
}
