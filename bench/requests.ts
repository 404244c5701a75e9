import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { configMaps } from '../kube/api/object.ts';
import { createClient } from '../kube/client/http-client.ts';
import { SMALL } from './requests-data.ts';
import type { Figure, Sample } from './figure.ts';

const ROUNDS = 3;
/** Requests of each client before the rounds, to warm up code and connections. */
const WARM_UP = 200;
const PATCHES = 2_000;
const IN_FLIGHT = 50;

interface Server {
  url: string;
  ca: string;
  token: string;
  kubeconfig: string;
}

/** A client that patches an object and reads the large list; items are counted and dropped. */
interface Contender extends AsyncDisposable {
  patch(name: string, value: string): Promise<unknown>;
  list(): Promise<number>;
}

type Cost = { wallMs: number; cpuMs: number };

/** Two thousand patches with fifty in flight, and a list of 100 MB, with our client and two others alternately; the server is a separate process. */
export async function requests(): Promise<Figure[]> {
  await using undo = new AsyncDisposableStack();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'requests-server.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  undo.defer(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const server = JSON.parse(line) as Server;
  const contenders = {
    dkc: undo.use(ours(server)),
    'client-node': undo.use(await clientNode(server)),
    undici: undo.use(await undici(server)),
  };
  const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, { patches: [] as Cost[], lists: [] as Cost[] }]));
  for (const contender of Object.values(contenders)) await manyPatches(contender, 0, WARM_UP);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [name, contender] of Object.entries(contenders)) {
      const patches = await measured(() => manyPatches(contender, round, PATCHES));
      const lists = await measured(async () => {
        const count = await contender.list();
        if (count < 50_000) throw new Error(`${name} read ${count} items`);
      });
      costs[name]?.patches.push(patches);
      costs[name]?.lists.push(lists);
    }
  }
  // Plain undici has no deadlines, limits, retries, metrics or typed errors.
  const reach = { 'client-node': 1, undici: 1.5 };
  return (['client-node', 'undici'] as const).flatMap((rival) =>
    (['patches', 'lists'] as const).flatMap((work) =>
      (['wallMs', 'cpuMs'] as const).map((of): Figure => {
        const sample = (name: string): Sample => ({ name, unit: 'ms', values: (costs[name]?.[work] ?? []).map((cost) => cost[of]) });
        const what = work === 'patches' ? `${PATCHES} patches, ${IN_FLIGHT} in flight` : 'one list of 100 MB';
        return {
          what: `${what}, ${of === 'wallMs' ? 'wall' : 'CPU'}`,
          ours: sample('dkc'),
          against: sample(rival),
          reach: { atMost: reach[rival] },
        };
      }),
    ),
  );
}

async function measured(work: () => Promise<void>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const from = performance.now();
  await work();
  const wallMs = performance.now() - from;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1_000 };
}

async function manyPatches(contender: Contender, round: number, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const at = next++;
      await contender.patch(`small-${at % SMALL}`, `${round}-${at}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function ours({ url, ca, token }: Server): Contender {
  const client = createClient({ origin: 'the benchmark', server: url, ca: { data: ca }, token });
  return {
    patch: (name, value) => client.patch(configMaps, { name, namespace: 'default' }, { data: { value } }, { type: 'merge' }),
    list: async () => {
      let count = 0;
      await client.listEach(configMaps, { namespace: 'kube-public' }, () => void count++);
      return count;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function clientNode({ kubeconfig }: Server): Promise<Contender> {
  const { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  return {
    patch: (name, value) => api.patchNamespacedConfigMap({ name, namespace: 'default', body: { data: { value } } }, merge),
    list: async () => (await api.listNamespacedConfigMap({ namespace: 'kube-public' })).items.length,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** undici with a connection per request in flight: it is fastest over HTTP/1.1. */
async function undici({ url, ca, token }: Server): Promise<Contender> {
  const { Pool } = await import('undici');
  const pool = new Pool(url, { connect: { ca }, connections: IN_FLIGHT });
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  return {
    patch: async (name, value) => {
      const { body } = await pool.request({
        method: 'PATCH',
        path: `/api/v1/namespaces/default/configmaps/${name}`,
        headers: { ...headers, 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: { value } }),
      });
      return body.json();
    },
    list: async () => {
      const { body } = await pool.request({ method: 'GET', path: '/api/v1/namespaces/kube-public/configmaps', headers });
      return ((await body.json()) as { items: unknown[] }).items.length;
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}
