import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { Runtime } from '../../kube/process/runtime.ts';

/** Records events as the profile of this name does; as the first profile where there is none of it. */
export type ProfileEvents = (schedulerName: string) => EventRecorder;

/**
 * What happens to a pod is reported by the profile that schedules it, as kube-scheduler has it: `reportingController` (and `source.component`) is its name,
 * `reportingInstance` that and the machine's.
 * @param profiles - one at least
 */
export function profileEvents({ events, hostName }: Pick<Runtime, 'events' | 'hostName'>, profiles: Iterable<string>): ProfileEvents {
  const recorders = new Map([...profiles].map((name) => [name, events(name, `${name}-${hostName}`)]));
  const [first = events('dkc-scheduler')] = recorders.values();
  return (schedulerName) => recorders.get(schedulerName) ?? first;
}
