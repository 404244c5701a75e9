import type { Millis } from '../../base/clock.ts';
import { parseLabelSelector, SelectorError, type LabelSelector } from '../../kube/api/selector.ts';
import { AnnotationReader, countOrShare } from '../common/annotations.ts';

/** What a set asks for by annotations; without them it behaves as everywhere. */
export interface OptIns {
  /** Pods are not replaced; missing ones are made, of the present template. */
  paused: boolean;
  /** Nodes that keep the old revision: a count, or a share of the desired ones, rounded up. */
  partition: number | string | undefined;
  /** Only pods on nodes that match are replaced. */
  rolloutNodes: LabelSelector | undefined;
  /** A rollout that makes no progress for so long is stalled, and conditions tell of progress. In ms. */
  progressDeadlineMs: Millis | undefined;
  /** Annotations that cannot be read, and why. While there are any, nothing is replaced: what they wanted to limit is unknown. */
  problems: readonly string[];
}

const PAUSED = 'dkc.dev/paused';
const PARTITION = 'dkc.dev/partition';
const ROLLOUT_NODES = 'dkc.dev/rollout-node-selector';
const DEADLINE = 'dkc.dev/progress-deadline';

/** Pure. @param annotations - of the set */
export function optInsOf(annotations: Readonly<Record<string, string>> = {}): OptIns {
  const reader = new AnnotationReader(annotations);
  return {
    paused: reader.flag(PAUSED),
    partition: reader.read(PARTITION, countOrShare, 'write a number of nodes, such as "3", or a share, such as "30%"'),
    rolloutNodes: reader.read(ROLLOUT_NODES, selectorOf, 'write a label selector, such as "pool=canary"'),
    progressDeadlineMs: reader.duration(DEADLINE),
    problems: reader.problems,
  };
}

function selectorOf(text: string): LabelSelector | undefined {
  try {
    // An empty one selects everything, which is never meant in an annotation.
    return text === '' ? undefined : parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
