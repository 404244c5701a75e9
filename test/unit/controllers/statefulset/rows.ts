/**
 * Tables of what is planned, a row a line: pods and settings, what is done, for whom all wait, and why.
 *
 * ```text
 * 0@new 1@new! partition=1 +paused=true | delete 1 (update) | 1 NotReady | finishes the sentence that the test begins
 * ```
 *
 * A line that begins with `|` belongs to the one before; `none` are no pods. Pods and plans are those of notation.ts. A setting is a member of its Situation: `replicas=5`, `parallel`, `update=nil`, `templates=data,log`,
 * `claims=data-0,log-0^`, `revisions=old,new`; `partition=1` is of the update, `currentReplicas=2` of the status, `+paused=true` an annotation.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { actionsOf, planned, waitOf, words, type Situation } from './notation.ts';

export interface Row {
  why: string;
  situation: Situation;
  does: string;
  waits: string;
}

/** @param over - holds where a row says nothing else */
export function rows(text: string, over: Situation = {}): Row[] {
  return table('situation | does | waits | why')(text).map(({ situation, ...row }) => ({
    ...row,
    situation: { ...over, ...situationOf(situation) },
  }));
}

/** A test for each row. @param over - what counts, whatever the row says */
export function testRows(begin: string, all: readonly Row[], over: Situation = {}): void {
  for (const { why, situation, does, waits } of all)
    test(`${begin} ${why}`, () => {
      const plan = planned({ ...situation, ...over });
      assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
    });
}

/** @throws {RangeError} for a word that is none */
export function situationOf(text: string): Situation {
  const all = words(text);
  const pods = all.filter((word) => word.includes('@'));
  const situation: Situation = pods.length === 0 ? {} : { pods: pods.join(' ') };
  for (const word of all.filter((one) => !one.includes('@'))) set(situation, word);
  return situation;
}

function set(situation: Situation, word: string): void {
  const [name = '', value = ''] = word.split(/=(.*)/s);
  switch (name) {
    case 'none':
      return;
    case 'parallel':
    case 'leaving':
      situation[name] = true;
      return;
    case 'replicas':
    case 'start':
    case 'minReady':
    case 'historyLimit':
      situation[name] = Number(value);
      return;
    case 'update':
      situation.update = value as 'OnDelete' | 'Recreate' | 'nil';
      return;
    case 'current':
      situation.current = value;
      return;
    case 'revisions':
      situation.revisions = value.replaceAll(',', ' ');
      return;
    case 'partition':
      situation.update = { partition: Number(value) };
      return;
    case 'maxUnavailable':
      situation.update = { maxUnavailable: Number(value) };
      return;
    case 'currentReplicas':
      situation.status = { currentReplicas: Number(value) };
      return;
    case 'templates':
      situation.templates = value.split(',');
      return;
    case 'taken':
      situation.taken = value.split(',');
      return;
    case 'claims':
      situation.claims = value.replaceAll(',', ' ');
      return;
    case 'whenScaled':
    case 'whenDeleted':
      situation[name] = 'Delete';
      return;
    default:
      if (!name.startsWith('+')) throw new RangeError(`nobody knows ${word}`);
      situation.annotations = { ...situation.annotations, [name.slice(1)]: value };
  }
}
