import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCli, type Ran } from './cli-context.ts';
import { memoryLocks } from './memory-locks.ts';
import { tempDir } from './temp-dir.ts';
import type { AdminFacts } from '../../agent/admin/facts.ts';
import { observeNode } from '../../agent/admin/observe.ts';
import type { MaybeSource, Source } from '../../agent/checkpoint/source.ts';
import { printActiveRecord, type ActiveRecord } from '../../agent/store/active-record.ts';
import { contentRef, digestFiles, sha256 } from '../../agent/checkpoint/payload.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { layout, type Layout } from '../../agent/store/layout.ts';
import type { CondemnedRecord } from '../../agent/store/store.ts';
import { realClock } from '../../base/clock.ts';
import { unsyncedDisk } from './unsynced-disk.ts';
import type { Context } from '../../cli/command.ts';
import { Interrupted } from '../../cli/failure.ts';

const uidA = '8c1f2d34-0a6b-4b7e-9f6e-2f1a0c9d7e55';
export const uidB = '8c1f2d34-77aa-4b7e-9f6e-2f1a0c9d7e55';

export const kubeletYaml = (maxPods: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${maxPods}\n`;

/** The state directory of a node, made by hand, and `dkc` on it. */
export interface NodeOnDisk {
  root: string;
  paths: Layout;
  localConfig: string;
  store: FsStore;
  later: (ms: number) => void;
  now: () => number;
  /** Saves a checkpoint, a minute after the one before. @param files - text by key. @default one key `kubelet` */
  save: (rv: string, over?: Partial<Source> & { files?: Record<string, string>; annotations?: Record<string, string> }) => Promise<Source>;
  assign: (source: MaybeSource) => Promise<void>;
  trust: (source: MaybeSource) => Promise<void>;
  condemn: (source: Source, over?: Partial<CondemnedRecord>) => Promise<CondemnedRecord>;
  /** As the agent leaves it: the effective file, and the record that says what it is. */
  runs: (used: ActiveRecord['used'], source: MaybeSource, over?: Partial<ActiveRecord>) => Promise<void>;
  observe: () => Promise<AdminFacts>;
  dkc: (...argv: string[]) => Promise<Ran>;
  /** The same of a command that goes on: each step is done while it waits, and Ctrl-C follows the last one. */
  watched: (argv: readonly string[], steps: readonly (() => Promise<unknown>)[]) => Promise<Ran>;
  /** The same with another world around it. */
  dkcIn: (over: Partial<Context>, ...argv: string[]) => Promise<Ran>;
}

export async function nodeOnDisk(
  t: { after(done: () => Promise<void>): void },
  settings: Record<string, string> = {},
): Promise<NodeOnDisk> {
  const dir = await tempDir(t);
  const root = join(dir, 'dkc');
  const localConfig = join(dir, 'local', 'config.yaml');
  await mkdir(join(dir, 'local'));
  await writeFile(localConfig, kubeletYaml(110));
  const agentYaml = join(dir, 'agent.yaml');
  const all = {
    nodeName: 'node-a',
    dynamicConfigDir: root,
    localConfig,
    kubeletUnit: '""',
    kubeletHealthz: '""',
    kubeletExits: join(dir, 'kubelet-exits'),
    kubeletVersion: '"1.30"',
    ...settings,
  };
  await writeFile(agentYaml, Object.entries(all).map(([key, value]) => `${key}: ${value}\n`).join('')); // prettier-ignore

  let now = Date.parse('2026-03-01T00:00:00Z');
  const clock = { ...realClock, now: () => now };
  const locks = memoryLocks();
  const store = new FsStore({ disk: unsyncedDisk, locks, root, clock });
  await store.initialize();
  const paths = layout(root);
  const effectiveConfig = paths.effective;
  const dkcIn = (over: Partial<Context>, ...argv: string[]): Promise<Ran> =>
    runCli([...argv, `--agent-config=${agentYaml}`], { clock, locks, disk: unsyncedDisk, ...over });

  return {
    root,
    paths,
    localConfig,
    store,
    later: (ms) => void (now += ms),
    now: () => now,
    save: async (rv, { files = { kubelet: kubeletYaml(100 + Number(rv)) }, annotations = {}, ...over } = {}) => {
      const source: Source = { namespace: 'dkc-system', name: 'web', uid: uidA, resourceVersion: rv, kubeletConfigKey: 'kubelet', ...over };
      now += 60_000;
      const bytes = new Map(Object.entries(files).map(([key, text]) => [key, new TextEncoder().encode(text)]));
      await store.save({ ...source, files: bytes, annotations });
      return source;
    },
    assign: (source) => store.setRecord('assigned', source),
    trust: (source) => store.setRecord('last-known-good', source),
    condemn: async (source, over = {}) => {
      const state = await store.load(source);
      if (state.at !== 'intact') throw new Error(`no checkpoint ${source.resourceVersion}`);
      const { kubeletConfigKey, ...ref } = source;
      const content = contentRef(digestFiles(state.checkpoint.payload.files), kubeletConfigKey);
      const about = { reason: 'the kubelet exited 3 times', evidence: ['exit-code 1'], by: 'agent', retry: '' } as const;
      const record: CondemnedRecord = { ...ref, ...content, ...about, at: new Date(now).toISOString(), ...over };
      await store.setCondemned([...(await store.condemned()), record]);
      return record;
    },
    runs: async (used, source, over = {}) => {
      const text = `# ${used}\n${kubeletYaml(1)}`;
      await writeFile(effectiveConfig, text);
      const about = { error: null, carrier: 'node', why: 'the API server keeps spec.configSource' } as const;
      const record = { used, source, ...about, effectiveSha256: sha256(text), at: new Date(now).toISOString(), ...over };
      await writeFile(paths.active, printActiveRecord(record));
    },
    observe: () => observeNode({ store, disk: unsyncedDisk, dynamicConfigDir: root, effectiveConfig, localConfig }),
    dkc: (...argv) => dkcIn({}, ...argv),
    watched: (argv, steps) => {
      const control = new AbortController();
      const left = [...steps];
      const sleep = async (): Promise<void> => {
        const step = left.shift();
        if (step === undefined) control.abort(new Interrupted());
        else await step();
        control.signal.throwIfAborted();
      };
      return dkcIn({ clock: { ...clock, sleep }, signal: control.signal }, ...argv);
    },
    dkcIn,
  };
}

/** A node that trusts config 1; config 2 is assigned and runs. @param over - of what is assigned */
export async function assignedAndTrusted(
  t: Parameters<typeof nodeOnDisk>[0],
  settings: Record<string, string> = {},
  over: Parameters<NodeOnDisk['save']>[1] = {},
): Promise<NodeOnDisk & { trusted: Source; assigned: Source }> {
  const node = await nodeOnDisk(t, settings);
  const trusted = await node.save('1');
  const assigned = await node.save('2', over);
  await node.trust(trusted);
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  return { ...node, trusted, assigned };
}
