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

export type Row = { why: string; situation: Situation; does: string; waits: string };

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

const settings: Readonly<Record<string, (value: string) => Partial<Situation>>> = {
  none: () => ({}),
  parallel: () => ({ parallel: true }),
  leaving: () => ({ leaving: true }),
  replicas: (value) => ({ replicas: Number(value) }),
  start: (value) => ({ start: Number(value) }),
  minReady: (value) => ({ minReady: Number(value) }),
  historyLimit: (value) => ({ historyLimit: Number(value) }),
  update: (value) => ({ update: value as 'OnDelete' | 'Recreate' | 'nil' }),
  partition: (value) => ({ update: { partition: Number(value) } }),
  maxUnavailable: (value) => ({ update: { maxUnavailable: Number(value) } }),
  current: (current) => ({ current }),
  currentReplicas: (value) => ({ status: { currentReplicas: Number(value) } }),
  revisions: (value) => ({ revisions: value.replaceAll(',', ' ') }),
  templates: (value) => ({ templates: value.split(',') }),
  claims: (value) => ({ claims: value.replaceAll(',', ' ') }),
  taken: (value) => ({ taken: value.split(',') }),
  whenScaled: () => ({ whenScaled: 'Delete' }),
  whenDeleted: () => ({ whenDeleted: 'Delete' }),
};

/** @throws {RangeError} for a word that is none */
export function situationOf(text: string): Situation {
  const all = words(text);
  const pods = all.filter((word) => word.includes('@'));
  const situation: Situation = pods.length === 0 ? {} : { pods: pods.join(' ') };
  for (const word of all.filter((one) => !one.includes('@'))) {
    const [name = '', value = ''] = word.split(/=(.*)/s);
    if (name.startsWith('+')) situation.annotations = { ...situation.annotations, [name.slice(1)]: value };
    else if (settings[name] === undefined) throw new RangeError(`nobody knows ${word}`);
    else Object.assign(situation, settings[name](value));
  }
  return situation;
}
