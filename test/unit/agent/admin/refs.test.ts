import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, source } from '../../../support/admin-facts.ts';
import type { AdminFacts } from '../../../../agent/admin/facts.ts';
import { findRef } from '../../../../agent/admin/refs.ts';

const stored = 'aaaaaaaa-1/10 aaaaaaaa-1/12 aaaaaaaa-2/10 bbbbbbbb-1/100';
const cases = [
  { why: 'takes the whole name', asked: 'aaaaaaaa-1/10', found: 'aaaaaaaa-1/10' },
  { why: 'takes a short UID with the version', asked: 'aaaa/12', found: 'aaaaaaaa-1/12' },
  { why: 'refuses a short UID with a version that two have', asked: 'aaaa/10', found: 'ambiguous' },
  { why: 'refuses a beginning that several have', asked: 'aaaaaaaa-1/1', found: 'ambiguous' },
  { why: 'refuses what nothing has', asked: 'c', found: 'none' },
  { why: 'knows assigned', asked: 'assigned', found: 'aaaaaaaa-1/12' },
  { why: 'knows that a role is the local config', asked: 'last-known-good', found: 'local' },
  { why: 'works out what is active', asked: 'active', found: 'aaaaaaaa-1/12' },
];
for (const c of cases)
  test(`a REF ${c.why}`, () => {
    const found = findRef(c.asked, adminFacts({ stored, assigned: 'aaaaaaaa-1/12' }));
    assert.equal(found.at === 'found' ? `${found.ref.uid}/${found.ref.resourceVersion}` : found.at, c.found);
  });

// Checkpoints of ns/web, newest first; `b-1/7 ns2/web` is another namespace's.
const named = adminFacts({ stored: 'a-1/12=x a-1/10 b-1/7' });
const elsewhere: AdminFacts = {
  ...named,
  entries: named.entries.map((one) =>
    one.ref.uid === 'b-1' && one.manifest ? { ...one, manifest: { ...one.manifest, namespace: 'ns2' } } : one,
  ),
};
const byName = [
  { why: 'takes the one spelling that is shown everywhere', asked: 'ns/web:kubelet@10', found: 'a-1/10 kubelet' },
  { why: 'takes a version', asked: 'ns/web@10', found: 'a-1/10' },
  { why: 'refuses a key that it does not have', asked: 'ns/web:other', found: 'none' },
  { why: 'refuses a name that two namespaces have', asked: 'web', found: 'ambiguous' },
  { why: 'takes a name that a version makes unique', asked: 'web@7', found: 'b-1/7' },
  { why: 'refuses a name that is also the beginning of a UID', asked: 'b-1', known: 'b-1', found: 'ambiguous' },
  { why: 'finds by name what only a record knows', asked: 'gone', known: 'gone', found: 'u1/3' },
];
for (const c of byName)
  test(`a REF ${c.why}`, () => {
    const known = c.known === undefined ? [] : [{ ...source('3'), name: c.known }];
    const found = findRef(c.asked, elsewhere, known);
    const shown = found.at === 'found' ? [`${found.ref.uid}/${found.ref.resourceVersion}`, found.key] : [found.at];
    assert.equal(shown.filter((part) => part !== undefined).join(' '), c.found);
  });
