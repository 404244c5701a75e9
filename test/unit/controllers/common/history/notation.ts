import {
  HASH_LABEL,
  type HistoryFacts,
  type HistoryPlan,
  type HistoryStep,
  type Revision,
} from '../../../../../controllers/common/history/contract.ts';
import { revisionData } from '../../../../../controllers/common/history/revision.ts';
import { unreachable } from '../../../../../base/errors.ts';
import { daemonSets, type KubeObject } from '../../../../../kube/api/object.ts';
import { controllerRef } from '../../../../../kube/controller/owners.ts';

export const owner: KubeObject = {
  metadata: { name: 'ds', namespace: 'ns', uid: 'ds-uid', annotations: { note: 'of the set', 'example.com/a': 'b' } },
};

/** A template whose one container runs `image`. */
export function template(image: string): Record<string, unknown> {
  return { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image }] } };
}

/** `ds-a#2=old`: name, number and image; with `@hash` the hash in its label is that and not the end of the name, with `@-` there is no label. */
export function revision(text: string): Revision {
  const [, name = '', number = '', image = '', label] = /^([^#]+)#(\d+)=([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  const hash = label ?? name.replace(/^.*-/, '');
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: 'ns',
      uid: `${name}-uid`,
      resourceVersion: '1',
      labels: { app: 'x', ...(hash === '-' ? {} : { [HASH_LABEL]: hash }) },
      ownerReferences: [controllerRef(owner, daemonSets)],
    },
    data: revisionData(template(image)),
    revision: Number(number),
  };
}

/** `p1@a`: name and hash; without hash when there is no `@`. */
export function pod(text: string): KubeObject {
  const [name = '', hash] = text.split('@');
  const labels = { app: 'x', ...(hash === undefined ? {} : { [HASH_LABEL]: hash }) };
  return { metadata: { name, namespace: 'ns', uid: `${name}-uid`, labels } };
}

export const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

/** Facts of a set that runs `image`. */
export function facts(image: string, revisions: string, pods = '', collisionCount?: number): HistoryFacts {
  return { owner, template: template(image), collisionCount, revisions: words(revisions).map(revision), pods: words(pods).map(pod) };
}

/** Steps in a line: `label ds-a a, create #3, renumber ds-a #3, relabel p1 a, delete ds-b`. */
export function stepsOf({ steps }: Pick<HistoryPlan, 'steps'>): string {
  return steps.map(written).join(', ');
}

export const names = (revisions: readonly Readonly<KubeObject>[]): string => revisions.map(({ metadata }) => metadata.name).join(' ');

function written(step: HistoryStep): string {
  switch (step.do) {
    case 'label':
      return `label ${step.revision.metadata.name} ${step.hash}`;
    case 'create':
      return `create #${step.revision.revision}`;
    case 'renumber':
      return `renumber ${step.revision.metadata.name} #${step.to}`;
    case 'relabel':
      return `relabel ${step.pod.metadata.name} ${step.hash}`;
    case 'delete':
      return `delete ${step.revision.metadata.name}`;
    default:
      return unreachable(step);
  }
}

/** The facts as they are once the plan is done. */
export function done(before: HistoryFacts, { steps }: Pick<HistoryPlan, 'steps'>): HistoryFacts {
  let [revisions, pods] = [[...before.revisions], [...before.pods]];
  const change = (target: Readonly<Revision>, to: (now: Readonly<Revision>) => Revision): void => {
    revisions = revisions.map((one) => (one.metadata.name === target.metadata.name ? to(one) : one));
  };
  for (const step of steps)
    if (step.do === 'create')
      revisions.push({ ...step.revision, metadata: { ...step.revision.metadata, uid: 'new', resourceVersion: '9' } });
    else if (step.do === 'delete') revisions = revisions.filter(({ metadata }) => metadata.name !== step.revision.metadata.name);
    else if (step.do === 'renumber') change(step.revision, (now) => ({ ...now, revision: step.to }));
    else if (step.do === 'label') change(step.revision, (now) => relabelled(now, step.hash));
    else pods = pods.map((one) => (one.metadata.uid === step.pod.metadata.uid ? relabelled(one, step.hash) : one));
  return { ...before, revisions, pods };
}

function relabelled<T extends KubeObject>(object: Readonly<T>, hash: string): T {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [HASH_LABEL]: hash } } };
}
