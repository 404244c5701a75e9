import type { Figure } from './figure.ts';
import { agentOn, emptyNode, launch, type Launched } from './launch.ts';
import { benchNode, withCheckpoints } from './node.ts';

const CHECKPOINTS = 100;
const PAIRS = 25;

/** Time from the start of the process to READY=1, with a store of a hundred checkpoints, alternating with an empty Node process. */
export async function agentStart(): Promise<Figure[]> {
  await using node = await benchNode('start');
  await withCheckpoints(node, CHECKPOINTS);
  // The first start writes the effective file and is not measured.
  await launch(agentOn(node, ['--once'])).over;
  const seen = { agent: { wall: [] as number[], cpu: [] as number[] }, empty: { wall: [] as number[], cpu: [] as number[] } };
  for (let n = 1; n <= PAIRS; n++) {
    for (const which of ['empty', 'agent'] as const) {
      const { wall, cpu } = seen[which];
      const sample = await readyOnce(launch(which === 'agent' ? agentOn(node) : emptyNode));
      wall.push(sample.wallMs);
      cpu.push(sample.cpuMs);
    }
  }
  const reach = { atMost: 3 };
  const figure = (what: string, of: 'wall' | 'cpu', unit: string): Figure => ({
    what,
    ours: { name: 'agent', unit, values: seen.agent[of] },
    against: { name: 'empty Node', unit, values: seen.empty[of] },
    reach,
  });
  return [figure(`agent start to READY=1, ${CHECKPOINTS} checkpoints`, 'wall', 'ms'), figure('the same as processor time', 'cpu', 'ms')];
}

async function readyOnce(process: Launched): Promise<{ wallMs: number; cpuMs: number }> {
  try {
    const wallMs = await process.readyMs;
    return { wallMs, cpuMs: process.cpuMs() };
  } finally {
    await process.end();
  }
}
