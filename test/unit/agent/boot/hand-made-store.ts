import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { boot, type BootOutcome } from '../../../../agent/boot/execute.ts';
import type { MaybeSource, Source } from '../../../../agent/checkpoint/source.ts';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { agentDefaults, type AgentOptions } from '../../../../agent/options.ts';
import { serializeSource } from '../../../../agent/store/serialized.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { realDisk } from '../../../../base/disk.ts';
import type { Log } from '../../../../base/log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { tempDir } from '../../../support/temp-dir.ts';

/** A KubeletConfiguration as somebody would write it. */
export const config = (...lines: readonly string[]): string =>
  ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration', ...lines, ''].join('\n');

/** A source by the number of its content: `1` is `checkpoints/uid-1/rv-1`. */
const web = { namespace: 'dkc-system', kubeletConfigKey: 'kubelet' };
export const numbered = (n: number): Source => ({ ...web, name: `config-${n}`, uid: `uid-${n}`, resourceVersion: `rv-${n}` });

/** A node whose files a person wrote, as upstream's kubelet leaves them: no manifests, no records of ours. */
export class HandMadeNode {
  readonly dir: string;
  readonly root: string;
  readonly local: string;
  readonly log: string[] = [];
  options: AgentOptions;

  constructor(dir: string) {
    this.dir = dir;
    this.root = join(dir, 'dkc');
    this.local = join(dir, 'local', 'config.yaml');
    const place = { dynamicConfigDir: this.root, effectiveConfig: join(this.root, 'kubelet.yaml'), localConfig: this.local };
    this.options = { ...agentDefaults, ...place, nodeName: 'node-a', policy: 'none' };
  }

  static async make(t: { after(done: () => Promise<void>): void }): Promise<HandMadeNode> {
    const node = new HandMadeNode(await tempDir(t));
    await node.write(node.local, config('maxPods: 110'));
    return node;
  }

  path(...parts: readonly string[]): string {
    return join(this.root, 'store', ...parts);
  }

  async write(path: string, bytes: string | Uint8Array): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }

  /** Upstream's store: both records, by number or 0 bytes. */
  async records(assigned: MaybeSource, lastKnownGood: MaybeSource): Promise<void> {
    await mkdir(this.path('checkpoints'), { recursive: true });
    await this.write(this.path('meta', 'assigned'), serializeSource(assigned));
    await this.write(this.path('meta', 'last-known-good'), serializeSource(lastKnownGood));
  }

  /** Upstream's checkpoint: a file per key. */
  async checkpoint(source: Source, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
    const dir = this.path('checkpoints', source.uid, source.resourceVersion);
    await mkdir(dir, { recursive: true });
    for (const [key, bytes] of Object.entries(files)) await this.write(join(dir, key), bytes);
  }

  store(): FsStore {
    return new FsStore({ disk: realDisk, locks: memoryLocks(), root: this.root, clock: new FakeClock() });
  }

  boot(): Promise<BootOutcome> {
    const [clock, disk] = [new FakeClock(), realDisk];
    return boot({ options: this.options, store: this.store(), disk, clock, log: this.#logger(), kubelet: { version: parseKubeletVersion('1.30'), args: [] } }); // prettier-ignore
  }

  effective(): Promise<string> {
    return readFile(this.options.effectiveConfig, 'utf8');
  }

  #logger(): Log {
    const plain = (_key: string, value: unknown): unknown => (value instanceof Error ? value.message : value);
    const line = (level: string) => (text: string, fields?: object) =>
      void this.log.push(`${level} ${text} ${JSON.stringify(fields ?? {}, plain)}`);
    const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), with: () => log };
    return log;
  }
}
