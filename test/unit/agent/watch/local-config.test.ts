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

interface Seen {
  /** Reasons to leave. */
  left: string[];
  pokes: number;
  warnings: number;
}

/** A watch on a local config that is `text`, `missing` or an error. `change` sets it and gives it time to settle. */
function watching(active: ActiveConfig, merge: 'replace' | 'overlay' = 'replace', bootError: string | null = null) {
  const clock = new FakeClock();
  const { log, lines } = recordedLog();
  const over = new AbortController();
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
  const shutdown = { leave: async (why: string) => void seen.left.push(why), signal: over.signal };
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
  return { change, set, look, seen, clock, over, missing };
}

const nothing: Seen = { left: [], pokes: 0, warnings: 0 };
const poked: Seen = { ...nothing, pokes: 1 };
const warned: Seen = { ...nothing, warnings: 1 };
const leaves = (why: string): Seen => ({ ...nothing, left: [why] });
const changed = leaves('the local config changed');
const changedUnder = leaves('the local config under the overlay changed');

test('with nothing assigned the agent leaves when the effective file would be another', async () => {
  const { change } = watching(onLocal);
  assert.deepEqual(await change(OLD), poked, 'the first look finds what boot found');
  assert.deepEqual(await change(OLD), nothing, 'touched');
  assert.deepEqual(await change(NEW), changed);
});

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

for (const [active, merge] of [
  [onLocal, 'replace'],
  [onAssigned, 'replace'],
  [onTrusted, 'overlay'],
] as const) {
  test(`a local config that is gone, broken or unreadable changes nothing (${active.used}, ${merge})`, async () => {
    const { change, missing } = watching(active, merge);
    assert.deepEqual(await change(OLD), poked);
    assert.deepEqual(await change(missing), nothing);
    assert.deepEqual(await change(BROKEN), warned);
    assert.deepEqual(await change(BROKEN), nothing, 'said once');
    assert.deepEqual(await change(Object.assign(new Error('EACCES'), { code: 'EACCES' })), warned);
    assert.deepEqual(await change(''), warned);
  });
}

test('under an overlay the agent leaves when the local config changes', async () => {
  for (const active of [onAssigned, onTrusted]) {
    const { change } = watching(active, 'overlay');
    assert.deepEqual(await change(OLD), poked, 'boot has laid the config over this one');
    assert.deepEqual(await change(NEW), changedUnder);
  }
});

test('without an overlay policy looks again at what it refused', async () => {
  const { change, missing } = watching(onAssigned);
  assert.deepEqual(await change(OLD), poked);
  assert.deepEqual(await change(NEW), poked);
  assert.deepEqual(await change(NEW), nothing);
  await change(missing);
  assert.deepEqual(await change(OLD), poked);
});

test('a file that is written in steps is read when it has settled', async () => {
  const { set, look, seen, clock } = watching(onLocal);
  set('apiVersion: kubelet.config');
  const looked = look();
  await clock.advance(250);
  set(OLD);
  await clock.advance(50);
  await looked;
  assert.deepEqual(seen, poked);
});
