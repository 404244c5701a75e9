import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { VolumeNeeds } from '../../../../scheduler/volumes/contract.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { node, type NodeBuilder, type PodBuilder } from '../builders.ts';
import { infosOf, podWith, viewOf, type World } from './storage-builders.ts';

/** A pod, a node, and what is there. */
export interface Case extends World {
  why: string;
  /** @default one with the claim `data` */
  pod?: PodBuilder;
  /** @default node-a */
  node?: NodeBuilder;
  /** On the node. @default those of the world that are there */
  here?: readonly PodBuilder[];
  disabled?: readonly string[];
  /** `ok`, or the plugin (with ! where no pod that goes can help) and the reasons; what is decided after it. */
  is: string;
}

/** {@link Case}: what a pod on this node comes to, in this world. */
export const row = (why: string, is: string, more: Omit<Case, 'why' | 'is'> = {}): Case => ({ why, is, ...more });

function needsOf(c: Case): VolumeNeeds {
  const needs = volumeRules.needs(podInfoOf((c.pod ?? podWith('p', 'data')).build()), viewOf(c), new Set(c.disabled));
  assert.ok(needs !== undefined && !('reasons' in needs), 'the pod needs storage');
  return needs;
}

function verdict(c: Case): string {
  const on = (c.node ?? node('node-a')).build();
  const { name } = on.metadata;
  const pods = c.here ?? (c.pods ?? []).filter((each) => each.build().spec?.nodeName === name);
  const place = { node: on, pods: infosOf(pods) };
  const [needs, view] = [needsOf(c), viewOf(c)];
  const refused = volumeRules.filter(needs, place, view, new Set(c.disabled));
  if (refused !== undefined) return `${refused.plugin}${refused.resolvable ? '' : '!'}: ${refused.reasons.join(', ')}`;
  const { reserve, provision } = volumeRules.decide(needs, place, view);
  const steps = [
    ...reserve.map((step) => `${step.claim.metadata.name}=${step.volume.metadata.name}`),
    ...provision.map((step) => `${step.claim.metadata.name}@${step.node}`),
  ];
  return ['ok', ...steps].join(' ');
}

/** A test of each. */
export function table(name: string, cases: readonly Case[]): void {
  describe(name, () => {
    for (const c of cases) test(c.why, () => assert.equal(verdict(c), c.is));
  });
}
