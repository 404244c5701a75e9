import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigStatus } from '../../../../agent/status/node-config-state.ts';
import { source } from '../../../support/builders.ts';
import { localSituation } from '../../../support/situations.ts';

function local() {
  const configState = localSituation();
  const shown: ConfigStatus[] = [];
  configState.onChange(() => shown.push(configState.shown));
  return { configState, shown };
}
const nothing: ConfigStatus = { assigned: null, active: null, lastKnownGood: null, error: null };

test('a change is shown at once, and one that makes no difference is not', () => {
  const { configState, shown } = local();
  configState.update({ assigned: source('web@1') });
  configState.update({ assigned: source('web@1') });
  assert.deepEqual(shown, [{ ...nothing, assigned: source('web@1') }]);
});

test('while it is held, what changes is known and not shown; then all of it is, once', () => {
  const { configState, shown } = local();
  const show = configState.hold();
  configState.update({ assigned: source('web@1'), error: 'half' });
  configState.update({ error: null });
  configState.adopt(source('web@1'));
  assert.deepEqual([configState.picture.assigned, configState.shown, shown], [source('web@1'), nothing, []]);
  show();
  assert.deepEqual(shown, [{ ...nothing, assigned: source('web@1'), active: source('web@1') }]);
});
