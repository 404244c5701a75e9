import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { difference, applyEvent, replace } from '../../../../kube/cache/change.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import type { AppliedEvent } from '../../../../kube/cache/change.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { event, object, objects, written } from './notation.ts';

function said(changes: AppliedEvent<KubeObject>): string {
  if (changes === 'lost') return 'lost';
  return changes
    .map((change) => {
      if (change.do === 'add') return `add ${written(change.object)}`;
      if (change.do === 'update') return `update ${written(change.before)} ${written(change.after)}`;
      return `delete ${written(change.last)}${change.unseen ? ' unseen' : ''}`;
    })
    .join(', ');
}

const held = (text: string) => (text === '-' ? undefined : object(text));

describe('what a listed object means', () => {
  for (const { why, has, lists, means } of [
    { why: 'a new one is added', has: '-', lists: 'web#1@5', means: 'add web#1@5' },
    { why: 'the same state is nothing new', has: 'web#1@5', lists: 'web#1@5', means: '' },
    { why: 'another state is an update', has: 'web#1@5', lists: 'web#1@7', means: 'update web#1@5 web#1@7' },
    { why: 'a list is believed, even one that goes back', has: 'web#1@7', lists: 'web#1@5', means: 'update web#1@7 web#1@5' },
    { why: 'another uid is another object', has: 'web#1@5', lists: 'web#2@7', means: 'delete web#1@5 unseen, add web#2@7' },
    {
      why: 'another uid at the same version is another object',
      has: 'web#1@5',
      lists: 'web#2@5',
      means: 'delete web#1@5 unseen, add web#2@5',
    },
    { why: 'without a version nothing is the same', has: 'web#1@', lists: 'web#1@', means: 'update web#1@ web#1@' },
  ]) {
    // An empty version stands for none.
    const plain = (text: string) => (text.endsWith('@') ? unversioned(text) : held(text));
    test(why, () => assert.equal(said(replace(plain(has), plain(lists) ?? object(lists))).replaceAll('undefined', ''), means));
  }
});

describe('what turns a store into a list', () => {
  for (const { why, has, lists, means } of [
    { why: 'nothing where they agree', has: 'a#1@3 b#1@4', lists: 'b#1@4 a#1@3', means: '' },
    { why: 'what is new, then what is gone', has: 'a#1@3', lists: 'b#1@4', means: 'add b#1@4, delete a#1@3 unseen' },
    { why: 'successors', has: 'a#1@3 b#1@4', lists: 'a#2@5 b#1@4', means: 'delete a#1@3 unseen, add a#2@5' },
    { why: 'what is listed twice counts once', has: '', lists: 'a#1@3 a#1@3 a#1@4', means: 'add a#1@3' },
    { why: 'everything goes', has: 'a#1@3 b#1@4', lists: '', means: 'delete a#1@3 unseen, delete b#1@4 unseen' },
  ]) {
    test(why, () => {
      const changes = [...difference(objects(lists), new Map(objects(has).map((one) => [objectKey(one), one])))];
      assert.equal(said(changes.filter((change) => change !== undefined)), means);
    });
  }
});

function unversioned(text: string): KubeObject {
  const { metadata, ...rest } = object(text);
  const { resourceVersion: _, ...without } = metadata;
  return { ...rest, metadata: without };
}

describe('what a watch event means', () => {
  for (const { why, has, hears, upTo, means } of [
    { why: 'a new object is added', has: '-', hears: 'ADDED web#1@9', upTo: '8', means: 'add web#1@9' },
    { why: 'a change of what was missed is an addition', has: '-', hears: 'MODIFIED web#1@9', upTo: '8', means: 'add web#1@9' },
    { why: 'a change is an update', has: 'web#1@5', hears: 'MODIFIED web#1@9', upTo: '8', means: 'update web#1@5 web#1@9' },
    { why: 'ADDED of what is there is an update', has: 'web#1@5', hears: 'ADDED web#1@9', upTo: '8', means: 'update web#1@5 web#1@9' },
    { why: 'said twice counts once', has: 'web#1@9', hears: 'MODIFIED web#1@9', upTo: '9', means: '' },
    { why: 'an older state says nothing', has: 'web#1@9', hears: 'MODIFIED web#1@7', upTo: '9', means: '' },
    { why: 'versions are compared as numbers', has: 'web#1@9', hears: 'MODIFIED web#1@10', upTo: '9', means: 'update web#1@9 web#1@10' },
    {
      why: 'versions that are no numbers are believed',
      has: 'web#1@b',
      hears: 'MODIFIED web#1@a',
      upTo: 'b',
      means: 'update web#1@b web#1@a',
    },
    {
      why: 'late, but about an object that waits for it',
      has: 'web#1@5',
      hears: 'MODIFIED web#1@7',
      upTo: '9',
      means: 'update web#1@5 web#1@7',
    },
    { why: 'late and about nothing held: an echo, or overtaken', has: '-', hears: 'ADDED web#1@7', upTo: '9', means: 'lost' },
    { why: 'a successor replaces', has: 'web#1@5', hears: 'ADDED web#2@9', upTo: '8', means: 'delete web#1@5 unseen, add web#2@9' },
    { why: 'a predecessor does not come back', has: 'web#2@9', hears: 'MODIFIED web#1@7', upTo: '9', means: '' },
    { why: 'a deletion tells the last state', has: 'web#1@5', hears: 'DELETED web#1@9', upTo: '8', means: 'delete web#1@9' },
    { why: 'a deletion without a version of its own', has: 'web#1@5', hears: 'DELETED web#1@5', upTo: '8', means: 'delete web#1@5' },
    { why: 'a deletion of what is gone', has: '-', hears: 'DELETED web#1@9', upTo: '8', means: '' },
    { why: 'an old deletion spares the successor', has: 'web#2@9', hears: 'DELETED web#1@7', upTo: '9', means: '' },
    {
      why: 'a deleted successor means that ours went too',
      has: 'web#1@5',
      hears: 'DELETED web#2@9',
      upTo: '8',
      means: 'delete web#1@5 unseen',
    },
  ]) {
    test(why, () => {
      const { type, object: about } = event(hears);
      assert.ok(type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED');
      assert.equal(said(applyEvent(held(has), type, about, upTo)), means);
    });
  }
});
