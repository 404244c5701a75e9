import { ActionError } from '../../base/errors.ts';
import { configMaps } from '../../kube/api/object.ts';
import { configMap, KEY, NAMESPACE, NODE, type PayloadName, type Stage } from './stage.ts';
import type { Context } from '../command.ts';
import { eventText, type Teller, typed } from './teller.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Millis } from '../../base/clock.ts';

/** Nothing in the story takes nearly as long, even on a slow machine. */
const PATIENCE: Millis = 120_000;

/** The main job of dkc on one node, told step by step. @throws as soon as something does not happen as told */
export async function tell(context: Context, stage: Stage, teller: Teller): Promise<void> {
  const { client, fleet, supervisor, server } = stage;
  const { signal } = context;
  const kubelet = (what: string, maxPods: number) => stage.kubelet.until(what, (seen) => seen.maxPods === maxPods, PATIENCE, signal);
  const node = (what: string, fits: (seen: FleetNode) => boolean) => stage.node.until(what, fits, PATIENCE, signal);
  const assign = async (name: PayloadName): Promise<void> => {
    await client.create(configMaps, configMap(name), { signal });
    const { carrier } = await fleet.assign(await fleet.read(NODE, signal), { namespace: NAMESPACE, name, kubeletConfigKey: KEY }, signal);
    const object = carrier === 'nodeconfig' ? 'NodeConfig' : 'spec.configSource of Node';
    teller.happened(`the admin assigns ConfigMap ${NAMESPACE}/${name} in ${object} ${NODE}`);
  };
  const types = (...argv: string[]) => {
    const { kubeconfig, agentConfig } = stage.files;
    return typed(context, teller, argv, argv[0] === 'nodes' ? `--kubeconfig=${kubeconfig}` : `--agent-config=${agentConfig}`);
  };
  const restarts = (): number => supervisor.kubelet.starts;

  teller.step('A node on its local configuration');
  supervisor.agent.start();
  await kubelet('the kubelet on its local config', 110);
  teller.happened('agent ready, effective file written, kubelet running with maxPods 110');

  teller.step('A good configuration');
  await assign('good');
  await kubelet('the kubelet on the good config', 120);
  teller.happened('downloaded, validated, written; kubelet restarted, now with maxPods 120');
  await node('the good config trusted', (seen) => seen.lastKnownGood?.name === 'good');
  teller.happened('healthy for 3 s: it is now the last known good');

  teller.step('An invalid one');
  const before = restarts();
  await assign('invalid');
  const refused = await node('the invalid config refused', (seen) => seen.error !== null);
  teller.happened(`rejected before anything restarts: ${refused.error ?? ''}`);
  teller.note(await eventText(context, client, 'KubeletConfigRefused'));
  untouched('the refused config', before, restarts());
  teller.happened(`the kubelet was not restarted and runs with maxPods ${stage.kubelet.last?.maxPods ?? '?'}`);

  teller.step('A valid one that crashes the kubelet');
  const crashes = stage.kubelet.last?.crashes ?? 0;
  await assign('deadly');
  await stage.kubelet.until('the kubelet die', (seen) => seen.crashes > crashes, PATIENCE, signal);
  teller.happened('the kubelet crashes: the cgroup named in the config does not exist');
  await node('the crashing config condemned', (seen) => seen.error?.startsWith('failed trial') === true && seen.active?.name === 'good');
  await kubelet('the kubelet back on the good config', 120);
  teller.happened('condemned and rolled back; kubelet running with maxPods 120');
  teller.note(await eventText(context, client, 'KubeletConfigCondemned'));

  teller.step('The API server goes down');
  await server.hooks.pause();
  supervisor.agent.crash();
  const [again, since] = [supervisor.agent.starts, restarts()];
  teller.happened('API server stopped, agent killed with -9');
  await types('status');
  await stage.supervisor.whenAgentReady(again, PATIENCE, signal);
  untouched('the restart of the agent', since, restarts());
  teller.happened('the agent restarted without it; the kubelet was not restarted');
  await server.hooks.resume();
  await assign('later');
  await kubelet('the kubelet on the next config', 140);
  teller.happened('the API server is back, and the next assignment is applied');
  await node('the next config trusted', (seen) => seen.lastKnownGood?.name === 'later');
  teller.happened('healthy for 3 s: it is now the last known good');

  teller.step('An admin on the node');
  await types('checkpoints', 'list');
  await types('checkpoints', 'diff', `${NAMESPACE}/good`);
  await types('drill');
  await types('history');
  await types('nodes');
}

/** The story says only what is so. */
function untouched(by: string, before: number, after: number): void {
  if (before === after) return;
  throw new ActionError('confirm', `that ${by} left the kubelet alone`, { hint: `it was started ${after - before} times meanwhile` });
}
