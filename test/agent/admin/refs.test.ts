import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { adminFacts } from '../../helpers/admin-facts.ts';
import { findRef, shortRefs } from '../../../agent/admin/refs.ts';

const stored = 'aaaaaaaa-1/10 aaaaaaaa-1/12 aaaaaaaa-2/10 bbbbbbbb-1/100';
const cases = [
  { why: 'takes the whole name', asked: 'aaaaaaaa-1/10', found: 'aaaaaaaa-1/10' },
  { why: 'takes a beginning that only one has', asked: 'b', found: 'bbbbbbbb-1/100' },
  { why: 'takes a beginning that ends in the version', asked: 'bbbbbbbb-1/10', found: 'bbbbbbbb-1/100' },
  { why: 'takes a beginning of the UID with the version', asked: 'aaaaaaaa-2/10', found: 'aaaaaaaa-2/10' },
  { why: 'takes a short UID with the version', asked: 'aaaa/12', found: 'aaaaaaaa-1/12' },
  { why: 'refuses a short UID with a version that two have', asked: 'aaaa/10', found: 'ambiguous' },
  { why: 'refuses a beginning that several have', asked: 'aaaaaaaa-1/1', found: 'ambiguous' },
  { why: 'refuses what nothing has', asked: 'c', found: 'none' },
  { why: 'refuses nothing', asked: '', found: 'none' },
  { why: 'does not take a version alone', asked: '/12', found: 'none' },
  { why: 'knows assigned', asked: 'assigned', found: 'aaaaaaaa-1/12' },
  { why: 'knows that a role is the local config', asked: 'last-known-good', found: 'local' },
  { why: 'works out what is active', asked: 'active', found: 'aaaaaaaa-1/12' },
];
for (const c of cases) {
  test(`a REF ${c.why}`, () => {
    const found = findRef(c.asked, adminFacts({ stored, assigned: 'aaaaaaaa-1/12' }));
    assert.equal(found.at === 'found' ? `${found.ref.uid}/${found.ref.resourceVersion}` : found.at, c.found);
  });
}

test('a role whose record is damaged names nothing, and says so', () => {
  const found = findRef('assigned', adminFacts({ stored, assigned: '!' }));
  assert.equal(found.at, 'none');
  assert.match(found.at === 'none' ? found.why : '', /missing or damaged/);
});

test('a role can name what the store does not hold', () => {
  assert.equal(findRef('assigned', adminFacts({ assigned: 'gone/1' })).at, 'found');
});

test('what the list shows is short where it can be', () => {
  const refs = adminFacts({ stored }).entries.map((entry) => entry.ref);
  assert.deepEqual(shortRefs(refs), ['aaaaaaaa-1/10', 'aaaaaaaa-1/12', 'aaaaaaaa-2/10', 'bbbbbbbb']);
});

test('what the list shows always leads back to its checkpoint', () => {
  const part = fc.stringMatching(/^[a-c1-2-]{1,10}$/);
  const refs = fc.uniqueArray(fc.record({ uid: part, resourceVersion: part }), { selector: (ref) => `${ref.uid}/${ref.resourceVersion}` });
  fc.assert(
    fc.property(refs, (refs) => {
      const facts = { ...adminFacts({}), entries: refs.map((ref) => ({ ref, state: 'intact' as const })) };
      for (const [at, short] of shortRefs(refs).entries()) {
        const found = findRef(short, facts);
        assert.deepEqual(found.at === 'found' && found.ref, refs[at]);
      }
    }),
    { numRuns: 300 },
  );
});
