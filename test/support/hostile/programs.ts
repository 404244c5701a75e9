import { Subject } from './subject.ts';

/** Our controllers and our scheduler, each in a process. @param kubeconfig - path */
export function startPrograms(kubeconfig: string): Promise<Subject[]> {
  const common = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--metrics-bind-address=127.0.0.1:0'];
  return Promise.all([
    Subject.start('controllers', ['controllers', 'run', '--controllers=daemonset,statefulset', ...common]),
    Subject.start('scheduler', ['scheduler', 'run', ...common]),
  ]);
}
