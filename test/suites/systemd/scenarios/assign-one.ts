import { kubeletConfig, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { settled } from '../inside/systemctl.ts';

/** Leaves a machine with an assigned configuration behind, for the boots to come. */
await scenario(async ({ maxPods }: { maxPods: number }): Promise<{ starts: unknown[] }> => {
  const agent = await bothUp();
  await agent.assign(kubeletConfig({ maxPods }));
  await kubeletStart(2);
  await settled();
  return { starts: kubeletStarts().map((start) => start.maxPods) };
});
