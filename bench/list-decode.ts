import { monitorEventLoopDelay } from 'node:perf_hooks';
import { configMaps } from '../kube/api/object.ts';
import { readList } from '../kube/client/list-stream.ts';
import { aConfigMap, ITEMS } from './requests-data.ts';
import type { Figure } from './figure.ts';

const ROUNDS = 5;
/** Size of one read of an HTTP/2 stream. */
const CHUNK = 16 * 1024;

/** Decoding a list of 100 MB item by item, compared with JSON.parse of the whole; and the longest time that it blocks the process. */
export async function listDecode(): Promise<Figure[]> {
  const items = Array.from({ length: ITEMS }, (_, at) => JSON.stringify(aConfigMap(`item-${at}`, 'kube-public', 1_800)));
  const body = Buffer.from(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[${items.join()}]}`);
  const rates = { ours: [] as number[], whole: [] as number[] };
  const stalls: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const ours = await decodeEach(body);
    const wholeMs = parseWhole(body);
    if (round === 0) continue; // warms up
    rates.ours.push(body.length / 1e3 / ours.ms);
    rates.whole.push(body.length / 1e3 / wholeMs);
    stalls.push(ours.stallMs);
  }
  return [
    {
      what: `list of ${Math.round(body.length / 1e6)} MB, decoded item by item`,
      ours: { name: 'dkc', unit: 'MB/s', values: rates.ours },
      against: { name: 'JSON.parse of the whole', unit: 'MB/s', values: rates.whole },
      reach: { atLeast: 0.5 },
    },
    {
      what: 'longest stall of the event loop meanwhile',
      ours: { name: 'dkc', unit: 'ms', values: stalls, quantile: 1 },
      reach: { atMost: 50 },
    },
  ];
}

async function decodeEach(body: Buffer): Promise<{ ms: number; stallMs: number }> {
  async function* chunks() {
    for (let from = 0; from < body.length; from += CHUNK) yield body.subarray(from, from + CHUNK);
  }
  let count = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const from = performance.now();
  await readList(chunks(), {
    resource: configMaps,
    call: { method: 'GET', path: '/', host: 'the benchmark' },
    each: () => void count++,
    longestItem: 8 * 1024 * 1024,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  });
  const ms = performance.now() - from;
  delay.disable();
  if (count !== ITEMS) throw new Error(`${count} items came through`);
  return { ms, stallMs: delay.max / 1e6 };
}

function parseWhole(body: Buffer): number {
  const from = performance.now();
  const { items } = JSON.parse(body.toString()) as { items: unknown[] };
  if (items.length !== ITEMS) throw new Error(`${items.length} items were parsed`);
  return performance.now() - from;
}
