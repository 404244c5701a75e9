import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planSignatures, type SignatureFacts } from '../../../../agent/watch/signatures.ts';
import { source } from '../../../support/builders.ts';

const web = source('web@1');
const good: SignatureFacts = { bootUnsigned: false, bootAssigned: web, assigned: web, used: 'assigned', active: web, isAssignedSigned: true, isActiveSigned: true }; // prettier-ignore
const fellBack: SignatureFacts = { ...good, bootUnsigned: true, used: 'local', active: null, isAssignedSigned: false, isActiveSigned: undefined }; // prettier-ignore

// prettier-ignore
const rows: { why: string; facts: SignatureFacts; leave?: true; notice?: RegExp }[] = [
  { why: 'what is signed', facts: good },
  { why: 'a node that asks nobody', facts: { ...good, isAssignedSigned: undefined, isActiveSigned: undefined } },
  { why: 'a node that fell back, and is still right', facts: fellBack },
  { why: 'a node that fell back, once the key is back', facts: { ...fellBack, isAssignedSigned: true }, leave: true },
  { why: 'a node that fell back, once nobody asks any more', facts: { ...fellBack, isAssignedSigned: undefined }, leave: true },
  { why: 'a node that fell back, and is assigned something else since', facts: { ...fellBack, assigned: source('web@2'), isAssignedSigned: true } },
  { why: 'a node that fell back for another reason', facts: { ...fellBack, bootUnsigned: false, isAssignedSigned: true } },
  { why: 'what runs from the time before signatures', facts: { ...good, isAssignedSigned: false, isActiveSigned: false }, notice: /^dkc-system\/web:kubelet@1 runs and is signed by none of .*: the next start of the agent leaves it/ },
  { why: 'what runs for want of any other file', facts: { ...fellBack, used: 'last-known-good', active: web, isActiveSigned: false }, notice: /no other file for the kubelet/ },
];
for (const { why, facts, leave = false, notice } of rows)
  test(`the watch of signatures looks at ${why}`, () => {
    const plan = planSignatures(facts);
    assert.equal(plan.leave !== undefined, leave);
    if (notice) assert.match(plan.notice ?? '', notice);
    else assert.equal(plan.notice, null);
  });
