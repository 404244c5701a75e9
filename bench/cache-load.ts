import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { launcherFlags } from '../scripts/launcher-flags.ts';
import type { Figure, Sample } from './figure.ts';
import { quantile } from './figure.ts';

const MANY = 150_000;
/** Number of pods that @kubernetes/client-node's informer handles in reasonable time. */
const FEW = 10_000;
const CHURN = { perSecond: 1_000, seconds: 10 };

interface Loaded {
  loadMs: number;
  cpuMs: number;
  stallMs: number;
  rssMb: number;
}

interface Read extends Loaded {
  latencies: number[];
}

/** A cache of 150,000 pods compared with their parsed objects, and of 10,000 compared with the informer of @kubernetes/client-node. */
export async function cacheLoad(): Promise<Figure[]> {
  const [ours, listed, raw] = await withServer(
    MANY,
    async (server) =>
      [await read(server, 'ours', MANY, true), await read(server, 'listed', MANY, true), await read(server, 'raw', MANY, false)] as const,
  );
  const [few, other] = await withServer(
    FEW,
    async (server) => [await read(server, 'ours', FEW, true), await read(server, 'client-node', FEW, true)] as const,
  );
  const mb = (name: string, { rssMb }: Loaded): Sample => ({ name, unit: 'MB', values: [rssMb] });
  const p99 = ({ latencies }: Read): number => quantile(latencies, 0.99);
  return [
    { what: '150,000 pods: memory', ours: mb('cache', ours), reach: { atMost: 300 } },
    { what: '150,000 pods: memory, from a list', ours: mb('cache', listed), reach: { atMost: 300 } },
    {
      what: '150,000 pods: memory beside parsed objects',
      ours: mb('cache', ours),
      against: mb('parsed objects', raw),
      reach: { atMost: 0.5 },
    },
    {
      what: '150,000 pods: time until synced',
      ours: sample('s', ours.loadMs / 1_000),
      against: sample('s', raw.loadMs / 1_000, 'list and parse alone'),
      reach: { atMost: 1.5 },
    },
    { what: '150,000 pods: longest stall while loading', ours: sample('ms', ours.stallMs), reach: { atMost: 200 } },
    { what: '150,000 pods: longest stall while loading a list', ours: sample('ms', listed.stallMs), reach: { atMost: 200 } },
    { what: '150,000 pods, 1,000 events/s: p99 from change to handler', ours: sample('ms', p99(ours)), reach: { atMost: 50 } },
    { what: '10,000 pods: memory', ours: mb('cache', few), against: mb('client-node informer', other), reach: { atMost: 1 } },
    {
      what: '10,000 pods: processor time until synced',
      ours: sample('ms', few.cpuMs),
      against: sample('ms', other.cpuMs, 'client-node informer'),
      reach: { atMost: 1 },
    },
    {
      what: '10,000 pods: longest stall while loading',
      ours: sample('ms', few.stallMs),
      against: sample('ms', other.stallMs, 'client-node informer'),
      reach: { atMost: 1 },
    },
    {
      what: '10,000 pods, 1,000 events/s: p99 from change to handler',
      ours: sample('ms', p99(few)),
      against: sample('ms', p99(other), 'client-node informer'),
      reach: { atMost: 1 },
    },
  ];
}

const sample = (unit: string, value: number, name = 'cache'): Sample => ({ name, unit, values: [value] });

interface Server {
  child: ChildProcess;
  /** Address and credentials of the server, for readers. */
  access: object;
}

async function withServer<R>(pods: number, work: (server: Server) => Promise<R>): Promise<R> {
  const child = start('server', [String(pods)]);
  try {
    return await work({ child, access: (await message(child)) as object });
  } finally {
    child.kill('SIGKILL');
  }
}

async function read({ child: server, access }: Server, way: string, pods: number, churns: boolean): Promise<Read> {
  const reader = start('reader', [way, String(pods)]);
  try {
    reader.send(access);
    const loaded = (await message(reader)) as Loaded;
    if (!churns) return { ...loaded, latencies: [] };
    server.send({ churn: CHURN });
    await message(server);
    reader.send({ finish: true });
    const { latencies } = (await message(reader)) as { latencies: number[] };
    if (latencies.length < CHURN.perSecond * CHURN.seconds * 0.9) throw new Error(`${way} heard only ${latencies.length} events`);
    return { ...loaded, latencies };
  } finally {
    reader.kill('SIGKILL');
  }
}

function start(file: string, args: readonly string[]): ChildProcess {
  // As in the image: otherwise the allocator keeps the memory of network buffers.
  const env = { ...process.env, MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536' };
  const execArgv = ['--expose-gc', '--max-old-space-size=12000', ...launcherFlags()];
  return fork(join(import.meta.dirname, 'cache', `${file}.ts`), args, { env, execArgv });
}

function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code, signal) => reject(new Error(`${child.spawnfile} ended with ${signal ?? code}`)));
  });
}
