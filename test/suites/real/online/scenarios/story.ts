import { scenario } from '../../../systemd/inside/scenario.ts';
import { run } from '../../../systemd/inside/program.ts';
import { settled } from '../../../systemd/inside/systemctl.ts';
import { config, killers, LOCAL_PODS } from '../../inside/configs.ts';
import { KEY, NAMESPACE, NODE } from '../../inside/names.ts';
import { configureAgent, healthyOn, since, starts, type NodeStatus } from '../../inside/node.ts';
import { eventually } from '../../../../support/eventually.ts';
import { onlineNode, type Identity, type RealCluster } from '../inside/cluster.ts';

export interface Step {
  step: string;
  /** From the change at the API server to a kubelet that is healthy with it, or to the error, in ms. */
  ms: number;
  /** What kubectl shows as status.config once it says what is expected. */
  text: string;
  /** The ConfigMap that is assigned, as it was then. */
  identity: Identity | null;
  /** Of the kubelet, since the machine booted. */
  starts: number;
}

export interface OnlineStory {
  steps: Step[];
  /** What the API server says to a node that reaches for more than its own. */
  refused: { anothers: string; unassigned: string; assigning: string };
  /** Names of those who may write the node's status: `kubectl describe node` at the end. */
  described: string;
  ready: string;
  /** Warnings and errors of the agent: before the first thing that should give any, and in all. */
  warnings: { early: string[]; all: string[] };
}

const warnings = (): string[] => {
  run('journalctl', '--sync');
  return run('journalctl', '--no-pager', '-o', 'cat', '-u', 'dkc-agent.service', '-p', 'warning', 'SYSLOG_IDENTIFIER=dkc-agent')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-- '));
};

/** A node's life on a real API server, its agent and its kubelet under the node's own token. */
await scenario(async (): Promise<OnlineStory> => {
  await using cluster = await onlineNode({ dynamicKubeletConfig: true }, ['node-1']);
  const steps: Step[] = [];
  const took = async (step: string, name: string | null, from: number): Promise<void> => {
    const ms = since(from);
    await settled();
    steps.push({ step, ms, text: cluster.configText(), identity: name === null ? null : await cluster.identity(name), starts: starts() });
  };
  /** Healthy with it, then trusted. */
  const trusted = async (step: string, name: string, maxPods: number, from: number): Promise<void> => {
    await healthyOn(maxPods);
    const arrived = performance.now();
    const { resourceVersion } = await cluster.identity(name);
    await eventually(`${step}: trusted`, async () => {
      const text = cluster.configText();
      return text.split(`"resourceVersion":"${resourceVersion}"`).length === 4 ? true : undefined;
    });
    await took(step, name, from + performance.now() - arrived);
  };
  const fails = async (step: string, name: string, from: number, fits: (status: NodeStatus) => boolean): Promise<void> => {
    await cluster.until(step, fits);
    await took(step, name, from);
  };

  await healthyOn(LOCAL_PODS);
  await cluster.until('a first report', () => cluster.configText() === '{}');
  await took('nothing is assigned', null, performance.now());

  let at = await cluster.assign('good', config({ maxPods: 120 }));
  await trusted('a good config', 'good', 120, at);
  await cluster.change('good', { data: { [KEY]: config({ maxPods: 121 }) } });
  await trusted('its content is edited', 'good', 121, performance.now());
  await cluster.change('good', { metadata: { labels: { touched: 'yes' } } });
  await trusted('its label is touched', 'good', 121, performance.now());
  const early = warnings();
  const refused = await reachingFor(cluster);

  at = await cluster.assign('invalid', config({ maxPods: -1 }));
  await fails('an invalid config', 'invalid', at, ({ error }) => error !== null);

  await cluster.plane.restartApiServer();
  at = await cluster.assign('better', config({ maxPods: 122 }));
  await trusted('another one, after a restart of the API server', 'better', 122, at);

  // On a busy machine a kubelet may be healthy for longer than the trial of the other steps before it dies of its config.
  await configureAgent({ preflight: false, trialDuration: '10m' });
  at = await cluster.assign('killer', config({ maxPods: 130, ...killers[0].fields }));
  await fails('one that kills, with nobody to look before', 'killer', at, ({ error }) => error?.startsWith('failed trial') === true);
  await healthyOn(122);
  await configureAgent({ trialDuration: '2s' });

  await cluster.change('killer', { data: { [KEY]: config({ maxPods: 123 }) } });
  await trusted('its ConfigMap is mended', 'killer', 123, performance.now());
  const last = await cluster.identity('killer');
  await cluster.remove('killer');
  at = performance.now();
  await cluster.until('a failed download', ({ error }) => error !== null);
  steps.push({ step: 'its ConfigMap is deleted', ms: since(at), text: cluster.configText(), identity: last, starts: starts() });
  at = await cluster.assign('killer', config({ maxPods: 124 }));
  await trusted('it is made again', 'killer', 124, at);

  await cluster.unassign();
  at = performance.now();
  await healthyOn(LOCAL_PODS);
  await cluster.until('nothing assigned', ({ assigned }) => assigned === null);
  await took('the assignment is cleared', null, at);

  const described = await eventually('the event of the last step', async () => {
    const text = cluster.kubectl('describe', 'node', NODE);
    return text.includes('restarting to use local config') ? text : undefined;
  });
  const ready = cluster.kubectl('get', 'node', NODE, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}');
  return { steps, refused, described, ready, warnings: { early, all: warnings() } };
});

/** What the Node authorizer and NodeRestriction are there for. */
async function reachingFor(cluster: RealCluster): Promise<OnlineStory['refused']> {
  await cluster.make('nobodys', '');
  const source = { spec: { configSource: { configMap: { namespace: NAMESPACE, name: 'nobodys', kubeletConfigKey: KEY } } } };
  return {
    anothers: cluster.refusedTo('node-1', 'get', 'configmap', 'good', `--namespace=${NAMESPACE}`),
    unassigned: cluster.refusedTo(NODE, 'get', 'configmap', 'nobodys', `--namespace=${NAMESPACE}`),
    assigning: cluster.refusedTo(NODE, 'patch', 'node', NODE, '--type=merge', `--patch=${JSON.stringify(source)}`),
  };
}
