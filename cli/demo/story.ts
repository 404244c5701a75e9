import { paintFor, type Paint } from '../output/output.ts';
import { ActionError } from '../../base/errors.ts';
import { configMaps, coreEvents } from '../../kube/api/object.ts';
import { commands } from '../commands.ts';
import { dispatch } from '../dispatch.ts';
import { configMap, KEY, NAMESPACE, NODE, type PayloadName, type Stage } from './stage.ts';
import type { Context } from '../command.ts';
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
  const types = (...argv: string[]) => typed(context, stage, teller, argv);
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
  teller.note(await eventText(context, stage, 'KubeletConfigRefused'));
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
  teller.note(await eventText(context, stage, 'KubeletConfigCondemned'));

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

  teller.step('An admin on the node');
  await types('checkpoints', 'list');
  await types('checkpoints', 'diff', 'last-known-good');
  await types('drill');
  await types('history');
  await types('nodes');
}

/** The story says only what is so. */
function untouched(by: string, before: number, after: number): void {
  if (before === after) return;
  throw new ActionError('tell', `that ${by} left the kubelet alone`, { hint: `it was started ${after - before} times meanwhile` });
}

/** Runs a command of dkc as an admin of the demo's node would. */
async function typed(context: Context, { files }: Stage, teller: Teller, argv: readonly string[]): Promise<void> {
  let output = '';
  const sink = { write: (text: string) => void (output += text), isTTY: false, columns: 100 };
  const where = argv[0] === 'nodes' ? [`--kubeconfig=${files.kubeconfig}`] : [`--agent-config=${files.agentConfig}`];
  await dispatch(commands, [...argv, ...where], { ...context, stdout: sink, stderr: sink });
  teller.typed(['dkc', ...argv].join(' '), output);
}

/** What the agent told about the node; events come a moment after the status. */
async function eventText({ clock, signal }: Context, { client }: Stage, reason: string): Promise<string> {
  for (let tries = 0; tries < 25; tries++) {
    const { items } = await client.list(coreEvents, {}, { signal });
    const event = items.find((one) => one['reason'] === reason);
    if (event) return `event ${reason}: ${String(event['message'])}`;
    await clock.sleep(200, signal);
  }
  return `no event ${reason} yet`;
}

/** Tells the story: a numbered step, what happened under it, and how long each took. */
export class Teller {
  readonly #context: Context;
  readonly #paint: Paint;
  readonly #began: number;
  #step = 0;
  #since: number;

  constructor(context: Context) {
    this.#context = context;
    this.#paint = paintFor(context, context.stdout);
    this.#began = context.clock.monotonic();
    this.#since = this.#began;
  }

  step(title: string): void {
    this.#since = this.#context.clock.monotonic();
    this.#context.stdout.write(`\n${this.#paint.bold(`${++this.#step}. ${title}`)}\n`);
  }

  /** Something happened, this long after the step began. */
  happened(what: string): void {
    const seconds = ((this.#context.clock.monotonic() - this.#since) / 1000).toFixed(2).padStart(6);
    this.#context.stdout.write(`${this.#paint.green(`${seconds} s`)}  ${what}\n`);
  }

  /** A command that an admin would type, and what it answers. */
  typed(command: string, output: string): void {
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => `          ${line}`.trimEnd());
    this.#context.stdout.write(`          ${this.#paint.cyan(`$ ${command}`)}\n${lines.join('\n')}\n`);
  }

  note(text: string): void {
    this.#context.stdout.write(`          ${this.#paint.dim(text)}\n`);
  }

  /** Seconds since the story began. */
  get seconds(): string {
    return ((this.#context.clock.monotonic() - this.#began) / 1000).toFixed(1);
  }
}
