import type { AgentName } from '../inside/agent.ts';
import { kubeletConfig, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { settled } from '../inside/systemctl.ts';

/** Leaves a machine with an assigned configuration behind, for the boots to come. */
await scenario(async ({ agent: name, maxPods }: { agent: AgentName; maxPods: number }): Promise<{ starts: unknown[] }> => {
  const agent = await bothUp(name);
  await agent.assign(kubeletConfig({ maxPods }));
  await kubeletStart(2);
  await settled();
  return { starts: kubeletStarts().map((start) => start.maxPods) };
});
