import { nodeSide, type NodeSide, nodeSideFlags } from './node-side.ts';
import { statusText } from './status-text.ts';
import { type ApiView, faultOf, type StatusView, viewStatus, type Vitals } from '../../agent/admin/status.ts';
import { type Command, type Context, fine, wrong } from '../command.ts';
import { WATCH_MS } from './history.ts';
import { checkWatch, formatOf, peopleFor, show } from '../output/output.ts';
import { jsonText } from '../output/printable.ts';
import { signersOf } from '../../agent/evaluate/node-inputs.ts';
import { type AdminFacts, viewActive } from '../../agent/admin/facts.ts';
import type { Args } from '../args/args.ts';
import { describeError } from '../../base/errors.ts';
import { nodes } from '../../kube/api/object.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { fleetNode } from '../../controllers/fleet/read-fleet-node.ts';
import { probeHealth } from '../../agent/trial/health.ts';
import { LockError } from '../../base/lock.ts';

export const status: Command = {
  describe: [
    'Shows which configuration this node runs, since when, and why, and whether its agent and its kubelet are running. Reads the disk, so ' +
      'it works without the API server and with the agent stopped. With --kubeconfig it also shows what the API server reports.',
    'Exits with 1 after a fallback, if the assigned config is refused, condemned on this node or unknown, if the store is damaged or ' +
      'inaccessible to the agent, and if the local config is missing or cannot be used.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc status', what: 'what runs here, and what to do next' },
    { run: 'dkc status --kubeconfig=/etc/dkc/kubeconfig', what: 'also what the API server reports' },
    { run: 'dkc status -w', what: 'print the status again after each change' },
    { run: 'dkc status -o json', what: 'for scripts' },
  ],
  flags: [
    ...nodeSideFlags(['node-name', 'effective-config', 'local-config', 'kubeconfig', 'policy'], {
      policy: 'field policy with the signatureKeys that verify who signed the running config',
      kubeconfig: 'also show what the API server reports',
    }),
    { name: 'watch', alias: 'w', type: 'boolean', text: 'keep watching, and print the status again after each change' },
  ],
  positionals: [],
  async run(context, args) {
    checkWatch(args, 'status');
    const node = await nodeSide(context, args);
    if (args.on('watch')) return followStatus(context, args, node);
    const facts = await showStatus(context, args, node);
    const fault = faultOf(facts);
    return fault === undefined ? fine : wrong(fault);
  },
};

/** Prints the status; also the last output of `rollback` and `retry`. @returns the facts that it shows */
export async function showStatus(context: Context, args: Args, node: NodeSide): Promise<AdminFacts> {
  const { view, facts, vitals } = await readStatus(context, args, node);
  await show(context, args, { data: view, people: (how) => statusText(view, facts, vitals, context.clock.now(), how) });
  return facts;
}

interface NodeStatus {
  view: StatusView;
  facts: AdminFacts;
  vitals: Vitals;
}

/** Prints the status whenever it changes, until the user interrupts. The remaining time of a trial does not count as a change. @throws the signal's reason */
async function followStatus(context: Context, args: Args, node: NodeSide): Promise<never> {
  const { clock, signal, stdout } = context;
  for (let last = ''; ;) {
    const { view, facts, vitals } = await readStatus(context, args, node);
    signal.throwIfAborted();
    const now = JSON.stringify({ ...view, trial: view.trial && view.trial.assignedAt, vitals });
    if (now !== last) {
      if (formatOf(args) === 'json') stdout.write(jsonText(view, 0));
      else stdout.write(`${last === '' ? '' : '\n'}${statusText(view, facts, vitals, clock.now(), peopleFor(context, args))}`);
    }
    last = now;
    await clock.sleep(WATCH_MS, signal);
  }
}

async function readStatus(context: Context, args: Args, node: NodeSide): Promise<NodeStatus> {
  const { nodeName, kubeletUnit, trialDuration, kubeconfig } = node.options;
  // Only with the flag: with just the agent's kubeconfig the command must not wait for the network.
  const asked = (args.text('kubeconfig') ?? '') !== '' ? kubeconfig : undefined;
  const [vitals, api] = await Promise.all([
    vitalsOf(context, node),
    asked === undefined ? undefined : readApiView(context, asked, nodeName),
  ]);
  const facts = await node.observe({ needsLocal: true });
  const signedBy = await signerOf(context, node, facts);
  const query = { node: nodeName, kubeletUnit, needMs: trialDuration, vitals, ...(signedBy === undefined ? {} : { signedBy }) };
  return { view: viewStatus(facts, { ...query, ...(api === undefined ? {} : { api }) }), facts, vitals };
}

/** Signer of the active config; null: unsigned; undefined: the policy requires no signatures, or cannot be read. */
async function signerOf({ disk }: Context, { options, store }: NodeSide, facts: AdminFacts): Promise<string | null | undefined> {
  const verify = await signersOf(options, disk, store);
  if (verify === 'none' || verify === 'unknown') return undefined;
  const found = await verify(viewActive(facts).source);
  return found?.ok === true ? found.signer.name : null;
}

/** A concurrent `dkc status` holds the lock for less than this, in ms. */
const LOCK_WAIT_MS = 100;

/** Whether agent and kubelet of this node are alive. Never throws, and takes at most a second, the timeout of the kubelet's probe. */
async function vitalsOf(context: Context, node: NodeSide): Promise<Vitals> {
  const [agent, kubelet] = await Promise.all([agentVitals(context, node), kubeletVitals(context, node)]);
  return { agent, kubelet };
}

/**
 * The agent holds its lock for as long as it runs.
 * @throws LockError if this cannot be determined
 */
export async function agentRuns({ locks, disk }: Context, { paths }: NodeSide): Promise<boolean> {
  // Taking a lock creates its file, and status must not create files.
  if (!(await disk.stat(paths.agentLock))) return false;
  try {
    const lock = await locks.take(paths.agentLock, LOCK_WAIT_MS);
    await lock.release();
    return false;
  } catch (error) {
    if (error instanceof LockError && error.cause === undefined) return true;
    throw error;
  }
}

async function agentVitals(context: Context, node: NodeSide): Promise<Vitals['agent']> {
  try {
    return (await agentRuns(context, node)) ? { alive: true, detail: 'running' } : { alive: false, detail: 'not running' };
  } catch (error) {
    return { alive: null, detail: describeError(error) };
  }
}

async function kubeletVitals({ signal }: Context, { options }: NodeSide): Promise<Vitals['kubelet']> {
  const { kubeletHealthz } = options;
  if (kubeletHealthz === '') return { healthy: null, detail: 'not checked: kubeletHealthz is empty' };
  return probeHealth(kubeletHealthz, signal);
}

// Short: the facts on disk must be shown soon, even if the network is down.
const MAX_WAIT_MS = 5000;

/**
 * The API server's view of this node, from its NodeConfig or else its Node, or why the request failed: never an error, since the facts on disk do not
 * need it.
 */
async function readApiView(context: Context, kubeconfig: string, node: string): Promise<ApiView | string> {
  try {
    const client = await context.connect({ kubeconfig });
    try {
      const options = { timeoutMs: MAX_WAIT_MS, signal: context.signal };
      const nodeConfig = client.get(nodeConfigs, { name: node }, options).catch(noneOrThrow);
      const [object, config] = await Promise.all([client.get(nodes, { name: node }, options), nodeConfig]);
      const { assigned, active, lastKnownGood, error } = fleetNode(object, config);
      return { assigned, active, lastKnownGood, error };
    } finally {
      await client.close();
    }
  } catch (error) {
    return `request failed: ${describeError(error)}`;
  }
}

/** undefined if the object does not exist, is not served, or is forbidden for this user. */
function noneOrThrow(error: unknown): undefined {
  if (!isNotFound(error) && !isForbidden(error)) throw error;
}
