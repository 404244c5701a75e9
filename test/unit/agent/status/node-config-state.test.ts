import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Picture } from '../../../../agent/status/node-config-state.ts';
import { source } from '../../../support/builders.ts';
import { localSituation } from '../../../support/situations.ts';

function local() {
  const situation = localSituation();
  const shown: Picture[] = [];
  situation.onChange(() => shown.push(situation.shown));
  return { situation, shown };
}
const nothing: Picture = { assigned: null, active: null, lastKnownGood: null, error: null };

test('a change is shown at once, and one that makes no difference is not', () => {
  const { situation, shown } = local();
  situation.update({ assigned: source('web@1') });
  situation.update({ assigned: source('web@1') });
  assert.deepEqual(shown, [{ ...nothing, assigned: source('web@1') }]);
});

test('while it is held, what changes is known and not shown; then all of it is, once', () => {
  const { situation, shown } = local();
  const show = situation.hold();
  situation.update({ assigned: source('web@1'), error: 'half' });
  situation.update({ error: null });
  situation.adopt(source('web@1'));
  assert.deepEqual([situation.picture.assigned, situation.shown, shown], [source('web@1'), nothing, []]);
  show();
  assert.deepEqual(shown, [{ ...nothing, assigned: source('web@1'), active: source('web@1') }]);
});

test('a change that is taken back while it is held is never shown', () => {
  const { situation, shown } = local();
  const show = situation.hold();
  situation.update({ error: 'for a moment' });
  situation.update({ error: null });
  show();
  assert.deepEqual(shown, []);
});

test('of two that hold, the last one shows', () => {
  const { situation, shown } = local();
  const [first, second] = [situation.hold(), situation.hold()];
  situation.update({ error: 'e' });
  first();
  assert.deepEqual(shown, []);
  second();
  assert.deepEqual(shown, [{ ...nothing, error: 'e' }]);
});
