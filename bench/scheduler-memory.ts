import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '../base/clock.ts';
import { numberOf } from './daemonset/number.ts';
import type { Figure, Sample } from './figure.ts';
import { startScheduler } from './scheduler/subject.ts';

const SETTLE_MS = 15_000;

interface Access {
  kubeconfig: string;
  url: string;
  ca: string;
  token: string;
}

/**
 * The scheduler's process with 150,000 pods (DKC_PODS) on 5,000 nodes (DKC_NODES) of the embedded API server: resident memory once its caches are synced,
 * compared with a process that only keeps the same pods as parsed objects. Runs only if named.
 */
export async function schedulerMemory(): Promise<Figure[]> {
  const nodes = numberOf(process.env, 'DKC_NODES', 5_000);
  const pods = numberOf(process.env, 'DKC_PODS', 150_000);
  await using undo = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'dkc-bench-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const file = join(import.meta.dirname, 'scheduler/memory-server.ts');
  const child = fork(file, [String(nodes), String(pods)], { execArgv: ['--max-old-space-size=8000'] });
  const gone = once(child, 'exit');
  undo.defer(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const [access] = (await Promise.race([once(child, 'message'), gone])) as [Access | number | null];
  if (access === null || typeof access === 'number') throw new Error(`the embedded API server ended with ${access ?? 'a signal'}`);
  const path = join(directory, 'kubeconfig');
  await writeFile(path, access.kubeconfig, { mode: 0o600 });
  const from = performance.now();
  const subject = undo.use(await startScheduler('dkc', { directory, kubeconfig: () => Promise.resolve(path) }));
  const readyMs = performance.now() - from;
  const atFirst = subject.usage();
  await realClock.sleep(SETTLE_MS);
  const { rssMb } = subject.usage();
  const rawMb = await parsedObjects(access, pods);
  const sample = (unit: string, value: number): Sample => ({ name: 'dkc', unit, values: [value] });
  const what = (of: string): string => `scheduler, ${pods.toLocaleString('en')} pods on ${nodes.toLocaleString('en')} nodes: ${of}`;
  return [
    { what: what('memory'), ours: sample('MB', rssMb), reach: { atMost: 600 } },
    {
      what: what('memory beside parsed objects'),
      ours: sample('MB', rssMb),
      against: { name: 'parsed objects', unit: 'MB', values: [rawMb] },
    },
    { what: what('the most until it was ready'), ours: sample('MB', atFirst.peakMb) },
    { what: what('from start to ready'), ours: sample('s', readyMs / 1_000) },
    { what: what('CPU for that'), ours: sample('s', atFirst.cpuMs / 1_000) },
  ];
}

/** Resident memory, after a garbage collection, of a process that holds all pods as complete objects. */
async function parsedObjects({ url, ca, token, kubeconfig }: Access, pods: number): Promise<number> {
  const file = join(import.meta.dirname, 'cache/reader.ts');
  const reader = fork(file, ['raw', String(pods)], { execArgv: ['--expose-gc', '--max-old-space-size=12000'] });
  const gone = once(reader, 'exit');
  try {
    reader.send({ url, ca, token, kubeconfig });
    const [told] = (await Promise.race([once(reader, 'message'), gone])) as [{ rssMb: number } | number | null];
    if (told === null || typeof told === 'number') throw new Error(`the reader of parsed objects ended with ${told ?? 'a signal'}`);
    return told.rssMb;
  } finally {
    reader.kill('SIGKILL');
    await gone;
  }
}
