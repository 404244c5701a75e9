import type { Pod as PodFields, PodCondition, PodStatus } from 'kubernetes-types/core/v1.js';
import type { Kube } from '../../../kube/api/object.ts';

export type Pod = Kube<PodFields>;

/** What becomes of a pod on a hollow node: `unready` runs and its readiness probe fails, `crash` ends again and again, `unpullable` is Pending for ever. */
export type Behaviour = { is: 'ready' | 'unready' | 'crash' | 'unpullable' | 'succeeded' } | { is: 'failed'; reason: string };

/** On a pod, at any time of its life: `ready`, `unready`, `crash`, `unpullable`, `failed`, `failed:REASON`, `succeeded`. On a node: `dead`. */
export const annotation = 'hollow.dkc.dev/behaviour';

/**
 * How the pod wants to behave: as its annotation says; else as its first image does, `hollow/NAME` or `hollow/NAME:TAG`; else it is ready.
 * Words that nobody knows count as none.
 */
export function behaviourOf(pod: Readonly<Pod>): Behaviour {
  const [, ofImage] = /^hollow\/([a-z]+)(?::|$)/.exec(pod.spec?.containers[0]?.image ?? '') ?? [];
  return parse(pod.metadata.annotations?.[annotation]) ?? parse(ofImage) ?? { is: 'ready' };
}

function parse(text = ''): Behaviour | undefined {
  const [word, reason = 'Evicted'] = text.split(':');
  if (word === 'failed') return { is: word, reason };
  return word === 'ready' || word === 'unready' || word === 'crash' || word === 'unpullable' || word === 'succeeded'
    ? { is: word }
    : undefined;
}

/**
 * The status that says so, to be merged into the pod's.
 * @param at - now, as the API writes times
 * @returns undefined when the pod's status says it already, or can say nothing else any more
 */
export function statusFor(pod: Readonly<Pod>, behaviour: Behaviour, at: string): PodStatus | undefined {
  const { status: before = {} } = pod;
  if (before.phase === 'Failed' || before.phase === 'Succeeded') return undefined;
  const phase = phases[behaviour.is];
  const waiting = waitingReasons[behaviour.is];
  const isReady = behaviour.is === 'ready';
  const [container] = before.containerStatuses ?? [];
  const same =
    before.phase === phase &&
    container?.state?.waiting?.reason === waiting &&
    before.conditions?.find(({ type }) => type === 'Ready')?.status === (isReady ? 'True' : 'False');
  if (same) return undefined;
  const startTime = before.startTime ?? at;
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type): PodCondition => {
    const status = isReady || type === 'Initialized' || type === 'PodScheduled' ? 'True' : 'False';
    const held = before.conditions?.find((one) => one.type === type);
    return held?.status === status ? held : { type, status, lastTransitionTime: at };
  });
  const over = phase === 'Failed' || phase === 'Succeeded';
  const state = over
    ? { terminated: { exitCode: phase === 'Failed' ? 1 : 0, startedAt: startTime, finishedAt: at } }
    : waiting === undefined
      ? { running: { startedAt: startTime } }
      : { waiting: { reason: waiting } };
  // A merge patch keeps what it does not name, and a container has one state only.
  const containerStatuses = (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready: isReady,
    started: isReady || behaviour.is === 'unready',
    restartCount: behaviour.is === 'crash' ? 3 : 0,
    state,
  }));
  return {
    phase,
    startTime,
    conditions,
    containerStatuses,
    ...(behaviour.is === 'failed' ? { reason: behaviour.reason, message: 'the test wants it' } : {}),
  };
}

const waitingReasons: { [is in Behaviour['is']]?: string } = { crash: 'CrashLoopBackOff', unpullable: 'ImagePullBackOff' };

const phases = {
  ready: 'Running',
  unready: 'Running',
  crash: 'Running',
  unpullable: 'Pending',
  failed: 'Failed',
  succeeded: 'Succeeded',
} as const satisfies Record<Behaviour['is'], string>;
