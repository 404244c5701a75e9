import { seededRandom } from '../base/random.ts';
import type { Figure, Sample } from './figure.ts';
import { benchNodes, fillingPods, makeCore, standingPods, type Core } from './scheduler/core-cluster.ts';
import { basicPods, decisionsPerSecond, otherPods, podsOf, type CoreWorkload } from './scheduler/core-workloads.ts';
import { FullScan } from './scheduler/full-scan.ts';

const SIZES = [1_000, 5_000, 15_000];
const AIMED_AT = 5_000;
const PER_NODE = 4;
const BASIC = 50_000;
const OTHERS = 10_000;
const ROUNDS = 5;
const MAX_MS = 1_000;

/**
 * The scheduler's engine alone, without queue and server: schedules and assumes pods one after the other, compared with a plain scan of all nodes.
 * Takes a minute.
 */
export function schedulerCore(): Promise<Figure[]> {
  const basics = podsOf(basicPods, BASIC);
  const requests = basics.map(({ requests }) => requests);
  const figures: Figure[] = [];
  const perDecision = new Map<number, number[]>();
  warmUp();
  for (const nodes of SIZES) {
    const what = `scheduler core, ${nodes.toLocaleString('en')} nodes`;
    const objects = benchNodes(nodes);
    const before = { some: standingPods(nodes, PER_NODE), full: fillingPods(nodes) };
    const coreFor = (workload: CoreWorkload): Core => makeCore(objects, before[workload.before ?? 'some'], workload.hasServices);
    const [ours, scans]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(decisionsPerSecond(coreFor(basicPods), basicPods, basics, MAX_MS));
      scans.push(scansPerSecond(coreFor(basicPods), requests));
    }
    perDecision.set(nodes, ours.map((rate) => 1e6 / rate)); // prettier-ignore
    console.error(`  ${what}, basic: ${ours.map(Math.round).join(' ')}; full scan: ${scans.map(Math.round).join(' ')}`);
    figures.push({ what: `${what}: basic`, ours: rates('engine', ours), ...(nodes === AIMED_AT && { reach: { atLeast: 50_000 } }) });
    figures.push({ what: `${what}: basic, beside a full scan`, ours: rates('engine', ours), against: rates('full scan', scans) });
    for (const workload of otherPods) {
      const rate = decisionsPerSecond(coreFor(workload), workload, podsOf(workload, OTHERS), MAX_MS);
      console.error(`  ${what}, ${workload.name}: ${rate.toFixed(0)}`);
      figures.push({ what: `${what}: ${workload.name}`, ours: rates('engine', [rate]) });
    }
  }
  const [few = 0] = SIZES;
  const many = SIZES.at(-1) ?? 0;
  const time = (nodes: number): Sample => ({
    name: `${nodes.toLocaleString('en')} nodes`,
    unit: 'µs',
    values: perDecision.get(nodes) ?? [],
  });
  figures.push({ what: `scheduler core: a basic decision on ${many.toLocaleString('en')} nodes`, ours: time(many), against: time(few) });
  return Promise.resolve(figures);
}

const rates = (name: string, values: readonly number[]): Sample => ({ name, unit: 'decisions/s', values });

function scansPerSecond({ cluster }: Core, requests: readonly Parameters<FullScan['place']>[0][]): number {
  const scan = new FullScan(cluster.order);
  const random = seededRandom(1);
  const from = performance.now();
  let done = 0;
  for (const asked of requests) {
    if (scan.place(asked, random).node < 0) throw new Error('the full scan found no place');
    done += 1;
    if (done % 16 === 0 && performance.now() - from > MAX_MS) break;
  }
  return (done / (performance.now() - from)) * 1_000;
}

/** Runs every path once, so that the measured code is compiled, and for all kinds of pods. */
function warmUp(): void {
  const [nodes, few] = [200, 2_000];
  const objects = benchNodes(nodes);
  const before = { some: standingPods(nodes, PER_NODE), full: fillingPods(nodes) };
  for (const workload of [basicPods, ...otherPods]) {
    const core = makeCore(objects, before[workload.before ?? 'some'], workload.hasServices);
    const pods = podsOf(workload, workload.name.includes('anti-affinity') ? nodes : few);
    decisionsPerSecond(core, workload, pods, MAX_MS / 4);
  }
  const core = makeCore(objects, before.some);
  scansPerSecond(core, podsOf(basicPods, few).map(({ requests }) => requests)); // prettier-ignore
}
