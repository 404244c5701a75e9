import type { KubeObject } from '../../kube/api/object.ts';
import type { Column } from '../table/column.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';

function statuses(pod: KubeObject): readonly unknown[] {
  return listAt(pod, 'status', 'containerStatuses');
}

function ready(pod: KubeObject): string {
  const up = statuses(pod).filter((one) => fieldAt(one, 'ready') === true && fieldAt(one, 'state', 'running') !== undefined).length;
  return `${up}/${listAt(pod, 'spec', 'containers').length}`;
}

/** The phase, or what says more than it. */
function status(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  for (const one of statuses(pod)) {
    const waiting = textAt(one, 'state', 'waiting', 'reason');
    const terminated = textAt(one, 'state', 'terminated', 'reason');
    if (waiting !== '' || terminated !== '') return waiting || terminated;
  }
  return textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

function restarts(pod: KubeObject): number {
  return statuses(pod).reduce<number>((sum, one) => sum + Number(fieldAt(one, 'restartCount') ?? 0), 0);
}

function gates(pod: KubeObject): string {
  const wanted = listAt(pod, 'spec', 'readinessGates').map((gate) => textAt(gate, 'conditionType'));
  if (wanted.length === 0) return '<none>';
  const open = listAt(pod, 'status', 'conditions').filter(
    (one) => wanted.includes(textAt(one, 'type')) && textAt(one, 'status') === 'True',
  );
  return `${open.length}/${wanted.length}`;
}

const wide = (name: string, description: string, cell: Column['cell']): Column => ({ name, description, cell, wide: true });

export const podColumns: readonly Column[] = [
  nameColumn,
  { name: 'Ready', description: 'Ready containers of all.', cell: ready },
  { name: 'Status', description: 'What it is doing.', cell: status },
  { name: 'Restarts', type: 'integer', description: 'How often its containers were restarted.', cell: restarts },
  ageColumn,
  wide('IP', 'Its address.', (pod) => textAt(pod, 'status', 'podIP') || '<none>'),
  wide('Node', 'Where it runs.', (pod) => textAt(pod, 'spec', 'nodeName') || '<none>'),
  wide('Nominated Node', 'Where room is being made for it.', (pod) => textAt(pod, 'status', 'nominatedNodeName') || '<none>'),
  wide('Readiness Gates', 'Conditions from outside that it needs to be ready.', gates),
];
