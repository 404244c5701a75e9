import { scenario } from '../../systemd/inside/scenario.ts';
import { config, killers, LOCAL_PODS } from '../inside/configs.ts';
import { crashes, healthyOn, history, nodeUp } from '../inside/node.ts';
import { eventually } from '../../../support/eventually.ts';

/** A trusted config, then one that kills: and the power goes after its first kubelet has died. */
await scenario(async (): Promise<{ history: string[]; crashes: number }> => {
  const cluster = await nodeUp();
  await healthyOn(LOCAL_PODS);
  await cluster.assign('good', config({ maxPods: 120 }));
  await cluster.until('a promotion', ({ lastKnownGood }) => lastKnownGood === 'good');
  await cluster.assign('killer', config({ maxPods: 130, ...killers[0].fields }));
  await eventually('its first end', async () => crashes() > 0);
  return { history: history('killer'), crashes: crashes() };
});
