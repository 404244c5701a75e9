import { isJsonObject } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../errors.ts';
import { invalidValue } from '../errors.ts';
import type { Schema } from '../openapi/schema.ts';
import { anything, int32, object, ref, text, time } from '../openapi/schema.ts';
import type { Column } from './column.ts';
import { age, humanDuration, nameColumn } from './column.ts';
import type { Kind } from './kind.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

// Field of core/v1 -> the same in events.k8s.io/v1. All others are called alike.
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
  // Events about cluster-scoped objects live in default, as the recorder puts them there.
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

const reference = anything('The object it is about.');
const shared: Record<string, Schema> = {
  metadata: ref('ObjectMeta', 'Name, labels and the like.'),
  action: text('What was done.'),
  eventTime: time('When it was first seen.'),
  reason: text('Why, in one word.'),
  related: reference,
  reportingInstance: text('Which instance reports.'),
  series: anything('How often it was seen.'),
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
      schema: object('Something that happened.', {
        ...shared,
        regarding: reference,
        note: text('What happened, for people.'),
        reportingController: text('Who reports.'),
        deprecatedSource: anything('Who reports.'),
        deprecatedFirstTimestamp: time('When it was first seen.'),
        deprecatedLastTimestamp: time('When it was last seen.'),
        deprecatedCount: int32('How often it was seen.'),
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
    column('Last Seen', 'Time since it was last seen.', seen),
    column('Type', 'Normal or Warning.', (event) => textAt(event, 'type')),
    column('Reason', 'Why, in one word.', (event) => textAt(event, 'reason')),
    column('Object', 'What it is about.', (event) => `${about('kind')(event).toLowerCase()}/${about('name')(event)}`),
    column('Subobject', 'Which part of it.', about('fieldPath'), true),
    column(
      'Source',
      'Who reports.',
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
    column('First Seen', 'Time since it was first seen.', (event, now) => age(firstSeen(event), now), true),
    { name: 'Count', type: 'integer', description: 'How often it was seen.', wide: true, cell: count },
    { ...nameColumn, wide: true },
  ],
  schema: object('Something that happened.', {
    ...shared,
    involvedObject: reference,
    message: text('What happened, for people.'),
    source: anything('Who reports.'),
    reportingComponent: text('Who reports.'),
    firstTimestamp: time('When it was first seen.'),
    lastTimestamp: time('When it was last seen.'),
    count: int32('How often it was seen.'),
  }),
  defaults: (event) => (isJsonObject(event['source']) ? event : { ...event, source: {} }),
};
