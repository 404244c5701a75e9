import assert from 'node:assert/strict';
import { test } from 'node:test';
import { config, numbered } from './hand-made-store.ts';
import { bootOnce } from '../../../../agent/agent.ts';
import { decode, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { agentDefaults, type AgentOptions, type AgentWorld } from '../../../../agent/options.ts';
import { layout } from '../../../../agent/store/layout.ts';
import { serializeSource } from '../../../../agent/store/serialized.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { CrashDisk, type Fault } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';

const ROOT = '/var/lib/dkc';
const LOCAL = '/var/lib/kubelet/config.yaml';
const options: AgentOptions = { ...agentDefaults, nodeName: 'node-a', policy: 'none', kubeletVersion: '1.30', kubeletUnit: '' };
const texts = { local: config('maxPods: 110'), one: config('maxPods: 41'), two: config('maxPods: 42'), old: config('maxPods: 7') };

/** Upstream's store on a disk in memory. @param file - the effective file that is there */
function prepared(file: string | undefined): CrashDisk {
  const fs = new CrashDisk();
  const paths = layout(ROOT);
  fs.plant(LOCAL, texts.local);
  fs.plant(paths.meta('assigned'), serializeSource(numbered(1)));
  fs.plant(paths.meta('last-known-good'), serializeSource(numbered(2)));
  fs.plant(paths.file(numbered(1), 'kubelet'), texts.one);
  fs.plant(paths.file(numbered(2), 'kubelet'), texts.two);
  if (file !== undefined) fs.plant(paths.effective, file);
  return fs;
}

function worldOn(fs: CrashDisk): AgentWorld {
  const unused = (): never => {
    throw new Error('a boot has no need of this');
  };
  return {
    disk: fs.disk(),
    locks: memoryLocks(),
    clock: new FakeClock(),
    random: seededRandom(1),
    log: silentLog,
    exec: async () => ({ code: null, stdout: '', stderr: 'nothing to run' }),
    watchFiles: unused,
    probe: unused,
    notify: { ready: unused, status: unused, stopping: unused, keepAlive: unused },
    connect: unused,
    version: '0.0.0',
    stop: new AbortController().signal,
  };
}

const usable = (text: string): boolean => decode(new TextEncoder().encode(text), parseKubeletVersion('1.30')).ok;
const effectiveOn = (fs: CrashDisk): Promise<string | undefined> =>
  fs
    .afterKill()
    .disk()
    .read(layout(ROOT).effective)
    .then(
      (bytes) => new TextDecoder().decode(bytes),
      () => undefined,
    );

for (const kind of ['EIO', 'ENOSPC', 'EROFS'] as const)
  test(`with ${kind} at any operation of a boot, the effective file is an old or a new one, and the outcome says which`, async (t) => {
    let points = 0;
    for (let at = 1; ; at++) {
      const fs = prepared(texts.old);
      fs.fault = { kind, at } satisfies Fault;
      // An agent that may not even start leaves everything as it is; its kubelet starts on the file that is there.
      const outcome = await bootOnce(options, worldOn(fs)).catch((error: unknown) => error as Error);
      const text = (await effectiveOn(fs)) ?? '';
      assert.ok([texts.old, texts.one, texts.two, texts.local].some((one) => same(one, text)) && usable(text), `${kind} at ${at} left ${JSON.stringify(text)}`); // prettier-ignore
      if (outcome instanceof Error) assert.equal(text, texts.old, `${kind} at ${at}: ${outcome.message}`);
      else {
        assert.equal(outcome.effective.usable, true, `${kind} at ${at}`);
        const says = { assigned: texts.one, 'last-known-good': texts.two, local: texts.local }[outcome.used];
        // A file that is none of the three is the one from before, reported as local with an error.
        assert.ok(same(says, text) || (outcome.used === 'local' && outcome.error !== null && same(texts.old, text)), `${kind} at ${at}: said ${outcome.used}, but there is ${text}`); // prettier-ignore
      }
      // The disk is well again: the next boot arrives where the first one was going.
      const mended = fs.afterKill();
      const next = await bootOnce(options, worldOn(mended));
      assert.deepEqual([next.used, next.error], ['assigned', null], `${kind} at ${at}`);
      assert.ok(same((await effectiveOn(mended)) ?? '', texts.one));
      points = at;
      if ((kind === 'EIO' ? fs.operations : fs.changes) < at) break;
    }
    t.diagnostic(`${points} points`);
    assert.ok(points > 5);
  });

/** Rendered or as written: the same fields. */
function same(a: string, b: string): boolean {
  return /maxPods: (\d+)/.exec(a)?.[1] === /maxPods: (\d+)/.exec(b)?.[1];
}
