import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ConfigFlag,
  DRIFT_KINDS,
  type DriftFacts,
  type DriftKind,
  type DriftState,
  findDrift,
  nextDrift,
  parseCorrections,
  recentCorrections,
  type UnitFacts,
} from '../../../../agent/drift/plan.ts';

const path = '/var/lib/dkc/kubelet.yaml';
const ours: ConfigFlag = { path, isEffective: true };
const other: ConfigFlag = { path: '/var/lib/kubelet/config.yaml', isEffective: false };
const unit = (over: Partial<UnitFacts> = {}): UnitFacts => ({
  unit: 'kubelet.service',
  running: { program: '/usr/bin/kubelet', config: ours },
  next: ours,
  hasDropIn: true,
  ...over,
});

/** `is`: the kinds that drift, each with what its line must match; `unknown`: those that the look says nothing about. */
const looks: { why: string; facts: Omit<DriftFacts, 'path'>; is?: Partial<Record<DriftKind, RegExp>>; unknown?: DriftKind[] }[] = [
  { why: 'a node as it should be', facts: { effective: 'as-written', unit: unit(), start: 'this' } },
  { why: 'a look that found out nothing', facts: {}, unknown: [...DRIFT_KINDS] },
  { why: 'an effective file of another hand', facts: { effective: 'changed', unit: unit(), start: 'this' }, is: { EffectiveFileChanged: /^\/var\/lib\/dkc\/kubelet\.yaml was changed by/ } },
  { why: 'an effective file that is gone', facts: { effective: 'missing', unit: unit(), start: 'this' }, is: { EffectiveFileChanged: /kubelet\.yaml was removed$/ } },
  { why: 'a kubelet on another file', facts: { effective: 'as-written', unit: unit({ running: { program: '/k/kubelet', config: other } }), start: 'this' }, is: { NotUsed: /was started with --config=\/var\/lib\/kubelet\/config\.yaml instead of --config=\/var\/lib\/dkc\/kubelet\.yaml$/ } },
  { why: 'another drop-in that wins from the next start on', facts: { effective: 'as-written', unit: unit({ next: other }), start: 'this' }, is: { NotUsed: /^the next start of kubelet\.service will read \/var\/lib\/kubelet\/config\.yaml/ } },
  { why: 'a drop-in that is gone', facts: { effective: 'as-written', unit: unit({ next: null, hasDropIn: false }), start: 'this' }, is: { NotUsed: /its drop-in 20-dkc\.conf is not loaded$/ } },
  { why: 'fields of /configz', facts: { effective: 'as-written', unit: unit(), start: 'this', fields: ['maxPods', 'port'] }, is: { KubeletDiffers: /in maxPods, port$/ } },
  { why: 'no unit', facts: { effective: 'changed' }, is: { EffectiveFileChanged: /changed/ }, unknown: ['NotUsed', 'KubeletDiffers'] },
]; // prettier-ignore

for (const { why, facts, is = {}, unknown = [] } of looks)
  test(`drift by a look at ${why}`, () => {
    const found = findDrift({ path, ...facts });
    for (const kind of DRIFT_KINDS) {
      const wanted = is[kind];
      if (wanted) assert.match(found[kind] ?? '', wanted);
      else assert.equal(found[kind], unknown.includes(kind) ? undefined : null, kind);
    }
  });

/** Looks at a file in a row, each `seconds:what`, with what is reported from it on: `+` begins, `-` ends. */
const rows: { why: string; looks: string; says: string }[] = [
  { why: 'is reported once it lasts', looks: '0:bad 1:bad 2:bad 60:bad', says: '. . + .' },
  { why: 'is not reported where the next look finds nothing', looks: '0:bad 1:good 60:good', says: '. . .' },
  { why: 'ends, and may begin again', looks: '0:bad 5:bad 60:good 61:bad 63:bad', says: '. + - . +' },
];
for (const { why, looks: given, says } of rows)
  test(`drift ${why}`, () => {
    let state: DriftState = {};
    const said = given.split(' ').map((look) => {
      const [seconds, what] = look.split(':');
      const next = nextDrift(state, { EffectiveFileChanged: what === 'bad' ? 'changed' : null }, Number(seconds) * 1000, `at ${seconds}`);
      state = next.state;
      return `${next.began.map(() => '+').join('')}${next.ended.map(() => '-').join('')}` || '.';
    });
    assert.equal(said.join(' '), says);
  });

const noon = Date.parse('2026-03-01T12:00:00Z');
test('corrections count those of the last hour, and of an hour ahead, where the clock was set back', () => {
  const text = '{"corrections":["2026-03-01T11:00:00Z","2026-03-01T11:00:01Z","2026-03-01T11:59:00Z","2026-03-01T12:30:00Z"]}';
  assert.equal(recentCorrections(parseCorrections(text), noon).length, 3);
});
