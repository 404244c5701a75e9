import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { effectiveOfLocal, parseLocal } from '../../../../agent/evaluate/local.ts';
import { type ActiveConfig, statusErrors } from '../../../../agent/status/node-config-state.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import { localConfigWatch } from '../../../../agent/watch/changes.ts';
import { source } from '../../../support/builders.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

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
// A full disk: each start would find the same, and end at once with 0, which systemd starts again without a pause.
test('a start that could not write the effective file waits before it asks for another one', async () => {
  const { set, look, seen, clock } = watching(onLocal, 'replace', statusErrors.internal);
  set(NEW);
  const looked = look();
  await clock.advance(29_000);
  assert.deepEqual(seen, nothing);
  await clock.advance(2_000);
  await looked;
  assert.deepEqual(seen, leaves('the effective file is not what the local config makes it, writing it again'));
});

// prettier-ignore
const rows = [
  { active: onLocal, merge: 'replace', first: poked, change: leaves('the local config changed') },
  { active: onAssigned, merge: 'replace', first: poked, change: poked },
  { active: onTrusted, merge: 'overlay', first: poked, change: leaves('the local config under the overlay changed') },
] as const;
for (const { active, merge, first, change: then } of rows) {
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
