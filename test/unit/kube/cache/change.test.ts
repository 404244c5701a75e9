import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { table } from '../../../support/table.ts';
import { applyEvent, replace } from '../../../../kube/cache/change.ts';
import type { AppliedEvent } from '../../../../kube/cache/change.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { event, object, written } from './notation.ts';

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
  for (const { why, has, lists, means } of table('has | lists | means | why')(`
    -       | web#1@5 | add web#1@5                        | a new one is added
    web#1@5 | web#1@5 |                                    | the same state is nothing new
    web#1@5 | web#1@7 | update web#1@5 web#1@7             | another state is an update
    web#1@7 | web#1@5 | update web#1@7 web#1@5             | a list is believed, even one that goes back
    web#1@5 | web#2@7 | delete web#1@5 unseen, add web#2@7 | another uid is another object
    web#1@5 | web#2@5 | delete web#1@5 unseen, add web#2@5 | another uid at the same version is another object
    web#1@  | web#1@  | update web#1@ web#1@               | without a version nothing is the same
  `)) {
    // An empty version stands for none.
    const plain = (text: string) => (text.endsWith('@') ? unversioned(text) : held(text));
    test(why, () => assert.equal(said(replace(plain(has), plain(lists) ?? object(lists))).replaceAll('undefined', ''), means));
  }
});

function unversioned(text: string): KubeObject {
  const { metadata, ...rest } = object(text);
  const { resourceVersion: _, ...without } = metadata;
  return { ...rest, metadata: without };
}

describe('what a watch event means', () => {
  for (const { why, has, hears, upTo, means } of table('has | hears | upTo | means | why')(`
    -       | ADDED web#1@9     | 8 | add web#1@9                        | a new object is added
    -       | MODIFIED web#1@9  | 8 | add web#1@9                        | a change of what was missed is an addition
    web#1@5 | MODIFIED web#1@9  | 8 | update web#1@5 web#1@9             | a change is an update
    web#1@5 | ADDED web#1@9     | 8 | update web#1@5 web#1@9             | ADDED of what is there is an update
    web#1@9 | MODIFIED web#1@9  | 9 |                                    | said twice counts once
    web#1@9 | MODIFIED web#1@7  | 9 |                                    | an older state says nothing
    web#1@9 | MODIFIED web#1@10 | 9 | update web#1@9 web#1@10            | versions are compared as numbers
    web#1@b | MODIFIED web#1@a  | b | update web#1@b web#1@a             | versions that are no numbers are believed
    web#1@5 | MODIFIED web#1@7  | 9 | update web#1@5 web#1@7             | late, but about an object that waits for it
    -       | ADDED web#1@7     | 9 | lost                               | late and about nothing held: an echo, or overtaken
    web#1@5 | ADDED web#2@9     | 8 | delete web#1@5 unseen, add web#2@9 | a successor replaces
    web#2@9 | MODIFIED web#1@7  | 9 |                                    | a predecessor does not come back
    web#1@5 | DELETED web#1@9   | 8 | delete web#1@9                     | a deletion tells the last state
    web#1@5 | DELETED web#1@5   | 8 | delete web#1@5                     | a deletion without a version of its own
    -       | DELETED web#1@9   | 8 |                                    | a deletion of what is gone
    web#2@9 | DELETED web#1@7   | 9 |                                    | an old deletion spares the successor
    web#1@5 | DELETED web#2@9   | 8 | delete web#1@5 unseen              | a deleted successor means that ours went too
  `)) {
    test(why, () => {
      const { type, object: about } = event(hears);
      assert.ok(type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED');
      assert.equal(said(applyEvent(held(has), type, about, upTo)), means);
    });
  }
});
