import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type FieldError, invalidValue } from '../errors.ts';
import { anything, int32, object, ref, type Schema, text, time } from '../openapi/schema.ts';
import { age, type Column, humanDuration, type Kind, nameColumn } from './kind.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

// Field of core/v1 -> the same field in events.k8s.io/v1. All other fields have the same name.
const renamed = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

function rename(event: KubeObject, pairs: readonly (readonly [string, string])[]): KubeObject {
  const names = new Map(pairs);
  const entries = Object.entries(event).map(([field, value]) => [names.get(field) ?? field, value]);
  return { ...Object.fromEntries(entries), metadata: event.metadata };
}

function validate(event: KubeObject): FieldError[] {
  const namespace = textAt(event, 'involvedObject', 'namespace');
  const home = event.metadata.namespace ?? '';
  // Events about cluster-scoped objects are in namespace default, where the recorder creates them.
  const matches = namespace === '' ? home === 'default' || home === 'kube-system' : namespace === home;
  return matches ? [] : [invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

const about = (field: string) => (event: KubeObject) => textAt(event, 'involvedObject', field);

function lastSeen(event: KubeObject): string {
  return (
    textAt(event, 'series', 'lastObservedTime') ||
    textAt(event, 'lastTimestamp') ||
    textAt(event, 'eventTime') ||
    (event.metadata.creationTimestamp ?? '')
  );
}

function firstSeen(event: KubeObject): string {
  return textAt(event, 'firstTimestamp') || textAt(event, 'eventTime') || (event.metadata.creationTimestamp ?? '');
}

function count(event: KubeObject): number {
  const found = fieldAt(event, 'series', 'count') ?? fieldAt(event, 'count');
  return typeof found === 'number' && found > 0 ? found : 1;
}

function seen(event: KubeObject, now: number): string {
  const times = count(event);
  if (times < 2) return age(lastSeen(event), now);
  const first = Date.parse(firstSeen(event));
  return `${age(lastSeen(event), now)} (x${times} over ${Number.isNaN(first) ? '<unknown>' : humanDuration(now - first)})`;
}

const column = (name: string, description: string, cell: Column['cell'], wide = false): Column => ({ name, description, cell, wide });

const reference = anything('Object that the event is about.');
const shared: Record<string, Schema> = {
  metadata: ref('ObjectMeta', 'Standard object metadata.'),
  action: text('Action that was taken.'),
  eventTime: time('When the event first occurred.'),
  reason: text('Reason, in one word.'),
  related: reference,
  reportingInstance: text('Instance of the component that reports the event.'),
  series: anything('Number of occurrences.'),
  type: text('Normal or Warning.'),
};

export const events: Kind = {
  resource: 'events',
  singular: 'event',
  kind: 'Event',
  served: [
    { group: '', version: 'v1' },
    {
      group: 'events.k8s.io',
      version: 'v1',
      toStored: (event) =>
        rename(
          event,
          renamed.map(([core, modern]) => [modern, core] as const),
        ),
      fromStored: (event) => rename(event, renamed),
      selectable: {
        'regarding.kind': 'involvedObject.kind',
        'regarding.name': 'involvedObject.name',
        'regarding.namespace': 'involvedObject.namespace',
        'regarding.uid': 'involvedObject.uid',
        reportingController: 'reportingComponent',
      },
      schema: object('Report of something that happened in the cluster.', {
        ...shared,
        regarding: reference,
        note: text('Human-readable description of the event.'),
        reportingController: text('Component that reports the event.'),
        deprecatedSource: anything('Component that reports the event.'),
        deprecatedFirstTimestamp: time('When the event first occurred.'),
        deprecatedLastTimestamp: time('When the event last occurred.'),
        deprecatedCount: int32('Number of occurrences.'),
      }),
    },
  ],
  namespaced: true,
  shortNames: ['ev'],
  nameProblems: dnsSubdomainProblems,
  validate,
  selectable: {
    'involvedObject.kind': about('kind'),
    'involvedObject.namespace': about('namespace'),
    'involvedObject.name': about('name'),
    'involvedObject.uid': about('uid'),
    'involvedObject.apiVersion': about('apiVersion'),
    'involvedObject.resourceVersion': about('resourceVersion'),
    'involvedObject.fieldPath': about('fieldPath'),
    reason: (event) => textAt(event, 'reason'),
    reportingComponent: (event) => textAt(event, 'reportingComponent'),
    source: (event) => textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
    type: (event) => textAt(event, 'type'),
  },
  columns: [
    column('Last Seen', 'Time since the last occurrence.', seen),
    column('Type', 'Normal or Warning.', (event) => textAt(event, 'type')),
    column('Reason', 'Reason, in one word.', (event) => textAt(event, 'reason')),
    column('Object', 'Object that the event is about.', (event) => `${about('kind')(event).toLowerCase()}/${about('name')(event)}`),
    column('Subobject', 'Part of the object that the event is about.', about('fieldPath'), true),
    column(
      'Source',
      'Component that reports the event.',
      (event) =>
        [
          textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
          textAt(event, 'source', 'host') || textAt(event, 'reportingInstance'),
        ]
          .filter((part) => part !== '')
          .join(', '),
      true,
    ),
    column('Message', 'What happened.', (event) => textAt(event, 'message').trim()),
    column('First Seen', 'Time since the first occurrence.', (event, now) => age(firstSeen(event), now), true),
    { name: 'Count', type: 'integer', description: 'Number of occurrences.', wide: true, cell: count },
    { ...nameColumn, wide: true },
  ],
  schema: object('Report of something that happened in the cluster.', {
    ...shared,
    involvedObject: reference,
    message: text('Human-readable description of the event.'),
    source: anything('Component that reports the event.'),
    reportingComponent: text('Component that reports the event.'),
    firstTimestamp: time('When the event first occurred.'),
    lastTimestamp: time('When the event last occurred.'),
    count: int32('Number of occurrences.'),
  }),
  defaults: (event) => (isJsonObject(event['source']) ? event : { ...event, source: {} }),
};
