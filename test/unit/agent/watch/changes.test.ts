import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRecordChange, planSignatures, type RecordFacts, type SignatureFacts } from '../../../../agent/watch/changes.ts';
import { localConfigWatch } from '../../../../agent/watch/watch-files.ts';
import { statusErrors, type ActiveConfig } from '../../../../agent/status/node-config-state.ts';
import { condemned, content, source } from '../../../support/builders.ts';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { effectiveOfLocal, parseLocal } from '../../../../agent/evaluate/local.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const [A, B] = [content('A'), content('B')];
const good: RecordFacts = { condemned: [], active: source('web@1'), activeContent: A, assigned: source('web@1'), assignedContent: A, bootAssigned: source('web@1'), bootError: null, isFallback: false, trusted: source('web@1'), trustedContent: A, bootTrusted: source('web@1'), assignedByOther: false }; // prettier-ignore
const back: RecordFacts = { ...good, assigned: source('web@2'), assignedContent: B, bootAssigned: source('web@2'), bootError: statusErrors.failedTrial, condemned: [condemned(B)], isFallback: true }; // prettier-ignore

// prettier-ignore
const records: { why: string; facts: RecordFacts; leaves: string | undefined }[] = [
  { why: 'stays while nothing speaks against what it runs', facts: good, leaves: undefined },
  { why: 'leaves when an admin rolls back what it runs', facts: { ...good, condemned: [condemned(A, { by: 'admin' })] }, leaves: 'the active config was condemned: kubelet exited 3 times' },
  { why: 'stays where it went back, as long as the cause is there', facts: back, leaves: undefined },
  { why: 'leaves when an admin retries what it went back from', facts: { ...back, condemned: [] }, leaves: 'the assigned config is no longer condemned' },
  { why: 'stays after a fall back that no admin can lift', facts: { ...back, bootError: statusErrors.validate, condemned: [] }, leaves: undefined },
  { why: 'stays on local', facts: { condemned: [condemned(A)], active: null, assigned: null, bootAssigned: null, bootError: null, isFallback: false, trusted: null, bootTrusted: null, assignedByOther: false }, leaves: undefined },
  { why: 'stays when sync has assigned what is in use, under a new name', facts: { ...back, assigned: source('web@3'), assignedContent: A }, leaves: undefined },
  { why: 'leaves when an admin names another last known good on a node that went back', facts: { ...back, trusted: source('web@0'), trustedContent: content('Z') }, leaves: 'another config is last known good now' },
  { why: 'stays when boot has tried that last known good already', facts: { ...back, active: null, trusted: source('web@0'), trustedContent: content('Z'), bootTrusted: source('web@0') }, leaves: undefined },
  { why: 'stays with another last known good while the assigned one is in use', facts: { ...good, trusted: source('web@0'), trustedContent: content('Z') }, leaves: undefined },
  { why: 'leaves when an admin assigns another config on this node', facts: { ...back, assigned: source('db@3'), assignedContent: content('C'), assignedByOther: true }, leaves: 'another config is assigned on this node now' },
  { why: 'stays when what an admin assigned is condemned', facts: { ...back, assigned: source('db@3'), assignedContent: content('C'), condemned: [condemned(B), condemned(content('C'))], assignedByOther: true }, leaves: undefined },
];

for (const { why, facts, leaves } of records) test(`a running agent ${why}`, () => assert.equal(planRecordChange(facts), leaves));

const web = source('web@1');
const signed: SignatureFacts = { bootUnsigned: false, bootAssigned: web, assigned: web, used: 'assigned', active: web, isAssignedSigned: true, isActiveSigned: true }; // prettier-ignore
const fellBack: SignatureFacts = { ...signed, bootUnsigned: true, used: 'local', active: null, isAssignedSigned: false, isActiveSigned: undefined }; // prettier-ignore

// prettier-ignore
const signatureRows: { why: string; facts: SignatureFacts; leave?: true; notice?: RegExp }[] = [
  { why: 'a node that fell back, and is still right', facts: fellBack },
  { why: 'a node that fell back, once the key is back', facts: { ...fellBack, isAssignedSigned: true }, leave: true },
  { why: 'a node that fell back, and is assigned something else since', facts: { ...fellBack, assigned: source('web@2'), isAssignedSigned: true } },
  { why: 'what runs from the time before signatures', facts: { ...signed, isAssignedSigned: false, isActiveSigned: false }, notice: /^dkc-system\/web:kubelet@1 runs and is signed by none of .*: at its next start the agent replaces it/ },
  { why: 'what runs for want of any other file', facts: { ...fellBack, used: 'last-known-good', active: web, isActiveSigned: false }, notice: /no other file for the kubelet/ },
];
for (const { why, facts, leave = false, notice } of signatureRows)
  test(`the watch of signatures looks at ${why}`, () => {
    const plan = planSignatures(facts);
    assert.equal(plan.leave !== undefined, leave);
    if (notice) assert.match(plan.notice ?? '', notice);
    else assert.equal(plan.notice, null);
  });

const LOCAL = '/var/lib/kubelet/config.yaml';
const version = parseKubeletVersion('1.30');
const config = (fields: string): string => `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}\n`;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const [OLD, NEW, BROKEN] = [config('maxPods: 110'), config('maxPods: 50'), 'kind: ['];

/** What a kubelet has that runs on the local config with this text. */
function effectiveHash(text: string): string {
  const local = parseLocal(bytesOf(text), '/var/lib/kubelet', version);
  assert.ok(local.at === 'present');
  return sha256(effectiveOfLocal(local));
}

const onLocal: ActiveConfig = { used: 'local', source: null, effectiveSha256: effectiveHash(OLD) };
const onAssigned: ActiveConfig = { used: 'assigned', source: source('web@1'), effectiveSha256: sha256('other') };
const onTrusted: ActiveConfig = { ...onAssigned, used: 'last-known-good' };

/** Reasons to leave, pokes of sync and warnings. */
type Seen = { left: string[]; pokes: number; warnings: number };

/** A watch on a local config that is `text`, `missing` or an error. `change` sets it and gives it time to settle. */
function watching(active: ActiveConfig, merge: 'replace' | 'overlay' = 'replace', bootError: string | null = null) {
  const clock = new FakeClock();
  const { log, lines } = recordedLog();
  const seen: Seen = { left: [], pokes: 0, warnings: 0 };
  let now: string | Error = OLD;
  const missing = Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  const disk = {
    readLinked: async (path: string) => {
      assert.equal(path, LOCAL);
      if (now instanceof Error) throw now;
      return bytesOf(now);
    },
  };
  const shutdown = { leave: async (why: string) => void seen.left.push(why), signal: new AbortController().signal };
  const look = localConfigWatch(
    {
      options: { localConfig: LOCAL, merge },
      world: { disk, clock, log },
      configState: { active, bootError },
      shutdown,
      kubelet: { version, args: [] },
    },
    () => (seen.pokes += 1),
  );
  const set = (text: string | Error): void => void (now = text);
  const change = async (text: string | Error): Promise<Seen> => {
    set(text);
    const looked = look();
    await clock.advance(1000);
    await looked;
    const { left, pokes } = seen;
    Object.assign(seen, { left: [], pokes: 0 });
    return { left, pokes, warnings: lines.splice(0).length };
  };
  return { change, set, look, seen, clock, missing };
}

const nothing: Seen = { left: [], pokes: 0, warnings: 0 };
const poked: Seen = { ...nothing, pokes: 1 };
const warned: Seen = { ...nothing, warnings: 1 };
const leaves = (why: string): Seen => ({ ...nothing, left: [why] });
// prettier-ignore
const localRows = [
  { active: onLocal, merge: 'replace', first: poked, change: leaves('the local config changed') },
  { active: onAssigned, merge: 'replace', first: poked, change: poked },
  { active: onTrusted, merge: 'overlay', first: poked, change: leaves('the local config under the overlay changed') },
] as const;
for (const { active, merge, first, change: then } of localRows) {
  const on = `${active.used}, ${merge}`;
  test(`a local config that is another one at the next look (${on})`, async () => {
    const { change } = watching(active, merge);
    assert.deepEqual(await change(OLD), first, 'the first look finds what boot found');
    assert.deepEqual(await change(OLD), nothing, 'touched');
    assert.deepEqual(await change(NEW), then);
  });

  test(`a local config that is gone, broken or unreadable changes nothing (${on})`, async () => {
    const { change, missing } = watching(active, merge);
    await change(OLD);
    assert.deepEqual(await change(missing), nothing);
    assert.deepEqual(await change(BROKEN), warned);
    assert.deepEqual(await change(BROKEN), nothing, 'said once');
    assert.deepEqual(await change(Object.assign(new Error('EACCES'), { code: 'EACCES' })), warned);
  });
}

// A full disk: each start would find the same, and end at once with 0, which systemd starts again without a pause.
test('a start that could not write the effective file waits before it asks for another one', async () => {
  const { set, look, seen, clock } = watching(onLocal, 'replace', statusErrors.internal);
  set(NEW);
  const looked = look();
  await clock.advance(29_000);
  assert.deepEqual(seen, nothing);
  await clock.advance(2_000);
  await looked;
  assert.match(seen.left.join(), /^the effective file does not match the local config/);
});
