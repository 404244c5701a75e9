import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRecordChange, planSignatures, type RecordFacts, type SignatureFacts } from '../../../../agent/watch/changes.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { condemned, content, source } from '../../../support/builders.ts';

const [A, B] = [content('A'), content('B')];
const good: RecordFacts = { condemned: [], active: source('web@1'), activeContent: A, assigned: source('web@1'), assignedContent: A, bootAssigned: source('web@1'), bootError: null, isFallback: false, trusted: source('web@1'), trustedContent: A, bootTrusted: source('web@1'), assignedByOther: false }; // prettier-ignore
const back: RecordFacts = { ...good, assigned: source('web@2'), assignedContent: B, bootAssigned: source('web@2'), bootError: statusErrors.failedTrial, condemned: [condemned(B)], isFallback: true }; // prettier-ignore
const { assignedContent: _gone, ...torn } = back;

// prettier-ignore
const cases: { why: string; facts: RecordFacts; leaves: string | undefined }[] = [
  { why: 'stays while nothing speaks against what it runs', facts: good, leaves: undefined },
  { why: 'leaves when an admin rolls back what it runs', facts: { ...good, condemned: [condemned(A, { by: 'admin' })] }, leaves: 'the active config was condemned: kubelet exited 3 times' },
  { why: 'stays when other content is condemned', facts: { ...good, condemned: [condemned(B)] }, leaves: undefined },
  { why: 'stays where it went back, as long as the cause is there', facts: back, leaves: undefined },
  { why: 'leaves when an admin retries what it went back from', facts: { ...back, condemned: [] }, leaves: 'the assigned config is no longer condemned' },
  { why: 'stays on local when nothing that could be retried is left', facts: { ...torn, condemned: [] }, leaves: undefined },
  { why: 'stays after a fall back that no admin can lift', facts: { ...back, bootError: statusErrors.validate, condemned: [] }, leaves: undefined },
  { why: 'stays on local', facts: { condemned: [condemned(A)], active: null, assigned: null, bootAssigned: null, bootError: null, isFallback: false, trusted: null, bootTrusted: null, assignedByOther: false }, leaves: undefined },
  { why: 'stays when sync has assigned what is in use, under a new name', facts: { ...back, assigned: source('web@3'), assignedContent: A }, leaves: undefined },
  { why: 'leaves it to sync when sync has assigned something new', facts: { ...back, assigned: source('web@3'), assignedContent: content('C') }, leaves: undefined },
  { why: 'leaves when an admin names another last known good on a node that went back', facts: { ...back, trusted: source('web@0'), trustedContent: content('Z') }, leaves: 'another config is last known good now' },
  { why: 'stays when last known good has a new name for what it runs', facts: { ...back, trusted: source('web@5'), trustedContent: A }, leaves: undefined },
  { why: 'stays when boot has tried that last known good already', facts: { ...back, active: null, trusted: source('web@0'), trustedContent: content('Z'), bootTrusted: source('web@0') }, leaves: undefined },
  { why: 'stays with another last known good while the assigned one is in use', facts: { ...good, trusted: source('web@0'), trustedContent: content('Z') }, leaves: undefined },
  { why: 'leaves when an admin assigns another config on this node', facts: { ...back, assigned: source('db@3'), assignedContent: content('C'), assignedByOther: true }, leaves: 'another config is assigned on this node now' },
  { why: 'stays when what an admin assigned is condemned', facts: { ...back, assigned: source('db@3'), assignedContent: content('C'), condemned: [condemned(B), condemned(content('C'))], assignedByOther: true }, leaves: undefined },
];

for (const { why, facts, leaves } of cases) test(`a running agent ${why}`, () => assert.equal(planRecordChange(facts), leaves));

const web = source('web@1');
const signed: SignatureFacts = { bootUnsigned: false, bootAssigned: web, assigned: web, used: 'assigned', active: web, isAssignedSigned: true, isActiveSigned: true }; // prettier-ignore
const fellBack: SignatureFacts = { ...signed, bootUnsigned: true, used: 'local', active: null, isAssignedSigned: false, isActiveSigned: undefined }; // prettier-ignore

// prettier-ignore
const signatureRows: { why: string; facts: SignatureFacts; leave?: true; notice?: RegExp }[] = [
  { why: 'what is signed', facts: signed },
  { why: 'a node that fell back, and is still right', facts: fellBack },
  { why: 'a node that fell back, once the key is back', facts: { ...fellBack, isAssignedSigned: true }, leave: true },
  { why: 'a node that fell back, and is assigned something else since', facts: { ...fellBack, assigned: source('web@2'), isAssignedSigned: true } },
  { why: 'what runs from the time before signatures', facts: { ...signed, isAssignedSigned: false, isActiveSigned: false }, notice: /^dkc-system\/web:kubelet@1 runs and is signed by none of .*: the next start of the agent leaves it/ },
  { why: 'what runs for want of any other file', facts: { ...fellBack, used: 'last-known-good', active: web, isActiveSigned: false }, notice: /no other file for the kubelet/ },
];
for (const { why, facts, leave = false, notice } of signatureRows)
  test(`the watch of signatures looks at ${why}`, () => {
    const plan = planSignatures(facts);
    assert.equal(plan.leave !== undefined, leave);
    if (notice) assert.match(plan.notice ?? '', notice);
    else assert.equal(plan.notice, null);
  });
