import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barOf } from '../../../../cli/demo/fleet/fleet-story.ts';

const nodes = { selected: 400, updated: 0, settled: 0, inFlight: 0, failed: 0, refused: 0 };
const cases = [
  { why: 'before the first node', status: {}, bar: /^ *·{24} {2}step 1 of 4 · 0 of 0 settled$/ },
  { why: 'half way', status: { step: 3, nodes: { ...nodes, settled: 200, inFlight: 40 } }, bar: /^ *█{12}▒{2}·{10} {2}step 3 of 4 · 200 of 400 settled · 40 in flight$/ }, // prettier-ignore
  { why: 'with failures', status: { step: 2, nodes: { ...nodes, settled: 10, failed: 390 } }, bar: /^ *█×{23} {2}step 2 of 4 · 10 of 400 settled · 390 failed$/ }, // prettier-ignore
  { why: 'on the way back', status: { phase: 'RollingBack' as const, nodes: { ...nodes, settled: 400, failed: 9 } }, bar: /^ *█{24} {2}rolling back · 400 of 400 settled · 9 failed$/ }, // prettier-ignore
];
for (const { why, status, bar } of cases) test(`the demo's bar ${why}`, () => assert.match(barOf(status, 4), bar));
