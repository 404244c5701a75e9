import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tooLarge, type Sized } from '../../../../controllers/common/set-size.ts';

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const fields = (count: number): Record<string, string> => Object.fromEntries(many(count, (at) => [`f${at}`, 'v']));
const terms = (count: number, values = 0) =>
  many(count, () => ({ matchExpressions: [{ key: 'k', operator: 'In', values: many(values, String) }] }));
const affinity = (nodeSelectorTerms: ReturnType<typeof terms>) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const spec = (of: object): Sized['template'] => ({ spec: { containers: [], ...of } });
function nested(depth: number): object {
  let value: object = {};
  for (let at = 0; at < depth; at++) value = { value };
  return value;
}

const cases: { why: string; set: Partial<Sized>; says?: RegExp }[] = [
  { why: 'an ordinary one', set: { selector: { matchLabels: { app: 'web' } }, template: spec({ nodeSelector: { a: 'b' } }) } },
  { why: '501 labels in the selector', set: { selector: { matchLabels: fields(501) } }, says: /^it has 501 requirements in spec.selector, more than the limit of 500$/ }, // prettier-ignore
  { why: '10,000 values in the selector', set: { selector: { matchExpressions: [{ key: 'k', operator: 'NotIn', values: many(10_000, String) }] } }, says: /^it has 626 requirements/ }, // prettier-ignore
  { why: '10,000 terms', set: { template: spec({ affinity: affinity(terms(10_000)) }) }, says: /^it has 20000 node selector terms/ },
  { why: '10,000 tolerations', set: { template: spec({ tolerations: many(10_000, () => ({ key: 'k' })) }) }, says: /^it has 10000 node/ },
  { why: '100,000 labels of pods', set: { template: { metadata: { labels: fields(100_000) } } }, says: /^spec.template has more than 20000 values$/ }, // prettier-ignore
  { why: '1,001 volumes', set: { template: spec({ volumes: many(1_001, () => ({ name: 'v' })) }) }, says: /^it has 1001 volumes/ },
  { why: '101 claim templates', set: { claimTemplates: many(101, () => ({})) }, says: /^it has 101 claim templates/ },
  { why: 'many labels in claims', set: { claimTemplates: [{ metadata: { labels: fields(20_001) } }] }, says: /^it has 20001 labels and annotations in claim templates/ }, // prettier-ignore
  { why: 'labels of the selector in each claim', set: { selector: { matchLabels: fields(400) }, claimTemplates: many(60, () => ({})) }, says: /^it has 24000 labels/ }, // prettier-ignore
  { why: 'a template that is too deep', set: { template: spec(nested(3_000)) }, says: /^spec.template is nested deeper than 100 levels$/ },
];
for (const { why, set, says } of cases)
  test(`a set with ${why} is ${says === undefined ? 'looked after' : 'left alone'}`, () => {
    const why = tooLarge({ selector: {}, template: {}, ...set });
    if (says === undefined) assert.equal(why, undefined);
    else assert.match(why ?? '', says);
  });
