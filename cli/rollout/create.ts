import { ActionError } from '../../base/errors.ts';
import { rollouts, type NodeConfigRollout } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '../../kube/client/errors.ts';
import type { Args } from '../args/args.ts';
import { fine, type Command, type Context, type Exit } from '../command.ts';
import { connectFlags, namespaceFlag, withClient } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { configMapNow } from '../fleet/assign.ts';
import { formatFlag, formatOf, scriptText, show } from '../output/output.ts';
import { readFleet } from './fleet-objects.ts';
import { follow } from './follow.ts';
import { preview, previewText } from './preview.ts';
import { notServed, readRules, rolloutName, rolloutPositional } from './rollouts.ts';
import { rolloutOf, specFlags } from './spec-flags.ts';

export const rolloutCreate: Command = {
  describe: `Creates a NodeConfigRollout. The rollout controller (dkc controllers run --controllers=rollout) copies the ConfigMap, validates the copy for the kubelet of every selected node, and assigns the copy to nodes step by step, within windows and with at most --max-unavailable nodes unavailable at once. When as many nodes have failed as --failure-budget says, the rollout stops and rolls its nodes back. A later edit of the ConfigMap starts the rollout again with the new content.

With --dry-run, prints the nodes of each step, the nodes whose kubelet would reject the configuration, and the fields that need a drain; the API server validates the object and stores nothing. The first nodes are chosen by a hash of the node's name and the uid of the object, which a dry run does not have: it shows the right number of nodes per step, but the real rollout may choose others. To see which nodes it will choose, create the rollout with --paused and run dkc rollout status. With --dry-run=client, prints the object without asking a server.`,
  examples: [
    { run: 'dkc rollout create web --configmap dkc-system/web --key kubelet -l pool=web', what: '1 node, 10%, 50%, all' },
    { run: 'dkc rollout create web --configmap dkc-system/web --key kubelet --all --hold=10m --approve=2', what: 'wait ten minutes after each step, and for an approval after the second' }, // prettier-ignore
    {
      run: 'dkc rollout create web --configmap dkc-system/web --key kubelet --all --window="0 2 * * 1-5 3h Europe/Berlin"',
      what: 'at night',
    },
    {
      run: 'dkc rollout create web --configmap dkc-system/web --key kubelet --all --dry-run',
      what: 'which nodes would be changed, and in which step',
    },
    { run: 'dkc rollout create web --configmap dkc-system/web --key kubelet --all --dry-run=client -o yaml > web.yaml', what: 'for git' },
    { run: 'dkc rollout create -f web.yaml -w', what: 'from a file, and watch it' },
  ],
  flags: [
    ...specFlags,
    { name: 'dry-run', type: 'string', value: 'WHERE', implied: 'server', choices: ['server', 'client'], text: 'change nothing: print the plan, or with =client the object' }, // prettier-ignore
    { name: 'watch', alias: 'w', type: 'boolean', text: 'then watch the rollout until it ends, as dkc rollout watch does' },
    { name: 'timeout', type: 'duration', value: 'TIME', text: 'with --watch: exit with 1 after this time', defaultText: 'none' },
    namespaceFlag,
    ...connectFlags,
    formatFlag,
  ],
  positionals: [{ ...rolloutPositional, required: false, text: 'name of the rollout (default: the name in the file)' }],
  async run(context, args) {
    const object = await rolloutOf(context, args, (given) => rolloutName('rollout create', given));
    const dryRun = args.text('dry-run');
    if (dryRun !== undefined && args.on('watch')) throw new UsageError('rollout create: --dry-run and --watch cannot be combined');
    if (dryRun === 'client') return showObject(context, args, object, 'created (dry run)');
    return withClient(context, args, async (client) => {
      const made = await create(client, object, dryRun !== undefined, context.signal);
      if (dryRun !== undefined && formatOf(args) !== 'json' && formatOf(args) !== 'yaml') return showPreview(context, args, client, made);
      if (!args.on('watch')) {
        const exit = await showObject(context, args, made, dryRun === undefined ? 'created' : 'created (server dry run)');
        if (dryRun === undefined) await note(context, client, made);
        return exit;
      }
      context.stderr.write(`dkc: note: nodeconfigrollout.dkc.dev/${made.metadata.name} created\n`);
      await note(context, client, made);
      return follow(context, args, client, made.metadata.name ?? '');
    });
  },
};

async function create(client: Client, object: NodeConfigRollout, dryRun: boolean, signal: AbortSignal): Promise<NodeConfigRollout> {
  const name = `NodeConfigRollout ${object.metadata.name}`;
  try {
    return await client.create(rollouts, object, { signal, dryRun });
  } catch (error) {
    if (isNotFound(error)) throw notServed('create', name);
    if (!isAlreadyExists(error)) throw error;
    const hint = `it already exists; to roll out other content edit its ConfigMap, or change the rollout: kubectl edit ncr ${object.metadata.name}`;
    throw new ActionError('create', name, { hint, cause: error });
  }
}

async function showObject(context: Context, args: Args, object: NodeConfigRollout, what: string): Promise<Exit> {
  const script = await scriptText(args, object);
  context.stdout.write(script ?? `nodeconfigrollout.dkc.dev/${object.metadata.name} ${what}\n`);
  return fine;
}

/** Prints a note if the ConfigMap does not exist: the rollout then waits for it. */
async function note(context: Context, client: Client, { spec = {} }: NodeConfigRollout): Promise<void> {
  const { namespace = '', name = '', kubeletConfigKey = '' } = spec.configMap ?? {};
  const { isMissing, notes } = await configMapNow(client, { namespace, name, kubeletConfigKey }, context.signal);
  if (isMissing === true) context.stderr.write(`dkc: note: ConfigMap ${namespace}/${name} does not exist yet; the rollout waits for it\n`);
  else for (const text of notes) context.stderr.write(`dkc: note: ${text}\n`);
}

async function showPreview(context: Context, args: Args, client: Client, object: NodeConfigRollout): Promise<Exit> {
  const { signal } = context;
  const fleet = await readFleet(client, signal);
  const plan = await preview(client, object, readRules(object), fleet, signal);
  await show(context, args, { data: object, people: (how) => previewText(plan, how) });
  context.stderr.write('dkc: note: dry run, nothing was changed; the real rollout may choose other nodes for each step\n');
  return fine;
}
