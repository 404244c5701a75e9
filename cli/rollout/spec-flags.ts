import { parse } from 'yaml';
import { specSourceProblems } from '../../agent/checkpoint/source.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { rollouts, type Count, type NodeConfigRollout, type RolloutSpec, type RolloutStep } from '../../controllers/rollout/types.ts';
import type { Window } from '../../controllers/rollout/windows.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { LabelRequirement } from '../../kube/api/selector.ts';
import type { Args } from '../args/args.ts';
import type { Context, Flag } from '../command.ts';
import { readConfigFile } from '../config/config-file.ts';
import { namespaceFor } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { allFlag, readSelector, selectorFlag } from '../fleet/node-names.ts';
import { readRules } from './rollouts.ts';

const COMMAND = 'rollout create';
const usage = (problem: string): UsageError => new UsageError(`${COMMAND}: ${problem}; see dkc ${COMMAND} --help`);

/** Flags for the spec of a rollout. Gates, and holds that differ per step, need a file. */
export const specFlags: readonly Flag[] = [
  { name: 'filename', alias: 'f', type: 'string', value: 'FILE', completes: 'file', text: 'file with a NodeConfigRollout in YAML or JSON, - for standard input; other flags win over the file' }, // prettier-ignore
  { name: 'configmap', type: 'string', value: 'NS/NAME', completes: 'configmap', text: 'the ConfigMap to roll out' },
  { name: 'key', type: 'string', value: 'KEY', completes: 'configmap-key', text: 'data key that holds the KubeletConfiguration' },
  selectorFlag,
  allFlag,
  {
    name: 'steps',
    type: 'string',
    value: 'N,N%',
    text: 'number of nodes that have the config after each step, cumulative',
    defaultText: '1,10%,50%,100%',
  },
  { name: 'hold', type: 'string', value: 'TIME', text: 'wait after each step, once all its nodes are settled', defaultText: '0s' },
  {
    name: 'approve',
    type: 'string',
    value: 'STEP,..',
    text: 'steps after which the rollout waits for dkc rollout approve; all = after every step',
  },
  { name: 'max-unavailable', type: 'string', value: 'N|N%', text: 'maximum number of selected nodes that are in flight, draining or not Ready at once', defaultText: '10%, at least 1' }, // prettier-ignore
  { name: 'spread-by', type: 'string', value: 'LABEL', text: 'nodes in flight at once all have the same value of this label' },
  { name: 'failure-budget', type: 'string', value: 'N|N%', text: 'number of failed nodes that stops the rollout', defaultText: '1' },
  { name: 'on-failure', type: 'string', value: 'WHAT', choices: ['Rollback', 'Pause'], text: 'what happens when failures stop the rollout', defaultText: 'Rollback' }, // prettier-ignore
  {
    name: 'node-deadline',
    type: 'string',
    value: 'TIME',
    text: 'a node that is not settled within this time has failed',
    defaultText: '15m',
  },
  { name: 'drain', type: 'string', value: 'WHEN', choices: ['Auto', 'Never', 'Always'], text: 'which nodes are drained before the change; Auto: those where a changed field needs it', defaultText: 'Auto' }, // prettier-ignore
  {
    name: 'drain-timeout',
    type: 'string',
    value: 'TIME',
    text: 'a node that is not drained within this time has failed',
    defaultText: '10m',
  },
  { name: 'drain-policy', type: 'string', value: 'POD=WHAT,..', text: 'whether a drain evicts pods without a controller (unmanagedPods) and pods with an emptyDir: Evict or Block', defaultText: 'unmanagedPods=Block,emptyDir=Evict' }, // prettier-ignore
  { name: 'window', type: 'string', value: 'CRON TIME [ZONE]', text: 'when nodes may be changed: five cron fields, a duration and a time zone; separate several with ;', defaultText: 'always' }, // prettier-ignore
  {
    name: 'skip-invalid-nodes',
    type: 'boolean',
    text: 'skip nodes whose kubelet would reject the config; without this flag, one such node keeps the rollout from starting',
  },
  { name: 'paused', type: 'boolean', text: 'create the rollout paused: dkc rollout status shows its nodes, dkc rollout resume starts it' },
];

/** The object that the command line describes, validated like in the controller. @throws {UsageError, ActionError} */
export async function rolloutOf(context: Context, args: Args, nameOf: (args: Args) => string): Promise<NodeConfigRollout> {
  const file = args.text('filename');
  const base = file === undefined ? {} : await readRollout(context, file);
  const named = args.one('name') === undefined ? undefined : nameOf(args);
  const name = named ?? base.metadata?.name;
  if (name === undefined || name === '') throw usage('NAME is missing');
  if (base.metadata?.name !== undefined && name !== base.metadata.name) throw usage(`the file names ${base.metadata.name}, and the command line ${name}`); // prettier-ignore
  const object: NodeConfigRollout = {
    apiVersion: `${rollouts.group}/${rollouts.version}`,
    kind: rollouts.kind,
    metadata: { ...base.metadata, name },
    spec: { ...base.spec, ...specOf(args, base.spec ?? {}, await namespaceFor(context, args, args.text('configmap') ?? '')) },
  };
  const [problem] = readRules(object).problems;
  if (problem !== undefined) throw usage(problem);
  return object;
}

async function readRollout(context: Context, file: string): Promise<Partial<NodeConfigRollout>> {
  const text = new TextDecoder().decode(await readConfigFile(context, file));
  const fail = (hint: string): ActionError =>
    new ActionError('read a NodeConfigRollout from', file === '-' ? 'standard input' : file, { hint });
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100, logLevel: 'silent' });
  } catch (error) {
    throw fail(`it is not YAML: ${describeError(error).split('\n')[0] ?? ''}`);
  }
  if (!isJsonObject(value) || value['kind'] !== rollouts.kind) throw fail(`it must be one object of kind ${rollouts.kind}`);
  const { metadata, spec } = value;
  if ((metadata !== undefined && !isJsonObject(metadata)) || (spec !== undefined && !isJsonObject(spec)))
    throw fail('its metadata and spec must be objects');
  return { metadata: metadata ?? {}, spec: spec ?? {} };
}

function specOf(args: Args, base: RolloutSpec, own: string | undefined): Partial<RolloutSpec> {
  const nodeSelector = selectorOf(args, base);
  const configMap = configMapOf(args, base, own);
  const steps = stepsOf(args);
  const windows = windowsOf(args.text('window'));
  const drainPolicy = drainPolicyOf(args.text('drain-policy'));
  const texts = {
    spreadBy: 'spread-by',
    onFailure: 'on-failure',
    nodeDeadline: 'node-deadline',
    drain: 'drain',
    drainTimeout: 'drain-timeout',
  };
  const counts = { maxUnavailable: 'max-unavailable', failureBudget: 'failure-budget' };
  const given = (flags: Record<string, string>, read: (text: string) => unknown): [string, unknown][] =>
    Object.entries(flags).flatMap(([field, flag]) => {
      const text = args.text(flag);
      return text === undefined ? [] : [[field, read(text)]];
    });
  return {
    nodeSelector,
    configMap,
    ...(steps === undefined ? {} : { steps }),
    ...(Object.fromEntries([...given(texts, (text) => text), ...given(counts, countOf)]) as Partial<RolloutSpec>),
    ...(windows === undefined ? {} : { windows }),
    ...(drainPolicy === undefined ? {} : { drainPolicy: { ...base.drainPolicy, ...drainPolicy } }),
    ...(args.on('skip-invalid-nodes') ? { skipInvalidNodes: true } : {}),
    ...(args.on('paused') ? { paused: true } : {}),
  };
}

/** Parses `unmanagedPods=Evict,emptyDir=Block`. Validation of the spec checks the values. */
function drainPolicyOf(text: string | undefined): RolloutSpec['drainPolicy'] {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((pair) => pair.split('=') as [string, string?]);
  const wrong = pairs.find(([pod, what]) => (pod !== 'unmanagedPods' && pod !== 'emptyDir') || what === undefined);
  if (wrong !== undefined)
    throw usage('--drain-policy must be unmanagedPods=WHAT, emptyDir=WHAT or both with a comma between; WHAT is Evict or Block');
  return Object.fromEntries(pairs);
}

/** Converts a number of nodes; other text is unchanged, and validation of the spec checks it. */
const countOf = (text: string): Count => (/^[0-9]{1,9}$/.test(text) ? Number(text) : text);

function configMapOf(args: Args, base: RolloutSpec, own: string | undefined): NonNullable<RolloutSpec['configMap']> {
  const text = args.text('configmap');
  const [namespace, name, ...more] =
    text === undefined
      ? [base.configMap?.namespace, base.configMap?.name]
      : text.includes('/') || own === undefined
        ? text.split('/')
        : [own, text];
  if (own !== undefined && text !== undefined && namespace !== own) throw usage(`--configmap names namespace ${namespace}, and -n ${own}`);
  const kubeletConfigKey = args.text('key') ?? base.configMap?.kubeletConfigKey;
  if (namespace === undefined || name === undefined || more.length > 0)
    throw usage('--configmap must be NAMESPACE/NAME, or NAME with -n NAMESPACE or a context that has one');
  if (kubeletConfigKey === undefined) throw usage('--key is missing');
  const source = { namespace, name, kubeletConfigKey };
  const [problem] = specSourceProblems(source);
  if (problem !== undefined) throw usage(problem);
  return source;
}

function selectorOf(args: Args, base: RolloutSpec): NonNullable<RolloutSpec['nodeSelector']> {
  const text = args.text('selector');
  if (args.on('all') && text !== undefined) throw usage('-l and --all cannot be combined');
  if (args.on('all')) return {};
  if (text === undefined) {
    if (base.nodeSelector === undefined) throw usage('no nodes are selected: give -l SELECTOR or --all');
    return base.nodeSelector;
  }
  if (text.trim() === '') throw usage('--selector is empty; --all means every node');
  return selectorObject(readSelector(COMMAND, text));
}

/** A selector for the spec: `pool=web` in matchLabels, other requirements in matchExpressions. */
function selectorObject(requirements: readonly LabelRequirement[]): NonNullable<RolloutSpec['nodeSelector']> {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: unknown[] = [];
  for (const requirement of requirements) {
    const { key } = requirement;
    switch (requirement.operator) {
      case 'in': {
        const [value] = requirement.values;
        if (requirement.values.length === 1 && value !== undefined && !Object.hasOwn(matchLabels, key)) matchLabels[key] = value;
        else matchExpressions.push({ key, operator: 'In', values: [...requirement.values] });
        break;
      }
      case 'notin':
        matchExpressions.push({ key, operator: 'NotIn', values: [...requirement.values] });
        break;
      case 'exists':
        matchExpressions.push({ key, operator: 'Exists' });
        break;
      case 'absent':
        matchExpressions.push({ key, operator: 'DoesNotExist' });
        break;
      case 'gt':
      case 'lt':
        throw usage(`--selector: ${key} is compared with < or >, which a NodeConfigRollout does not support`);
    }
  }
  return { ...(Object.keys(matchLabels).length > 0 ? { matchLabels } : {}), ...(matchExpressions.length > 0 ? { matchExpressions } : {}) };
}

const DEFAULT_STEPS = '1,10%,50%,100%';

/** undefined: none of the flags is given. A last step with all nodes has no hold and no approval. */
function stepsOf(args: Args): RolloutStep[] | undefined {
  const [steps, hold, approve] = [args.text('steps'), args.text('hold'), args.text('approve')];
  if (steps === undefined && hold === undefined && approve === undefined) return undefined;
  const counts = (steps ?? DEFAULT_STEPS).split(',').map((text) => countOf(text.trim()));
  const held = counts.at(-1) === '100%' ? counts.length - 1 : counts.length;
  const waits = approvedSteps(approve, held);
  return counts.map((nodes, at) => ({
    nodes,
    ...(hold !== undefined && at < held ? { hold } : {}),
    ...(waits.has(at + 1) ? { approve: true } : {}),
  }));
}

function approvedSteps(text: string | undefined, held: number): ReadonlySet<number> {
  if (text === undefined) return new Set();
  if (text === 'all') return new Set(Array.from({ length: held }, (_, at) => at + 1));
  const steps = text.split(',').map(Number);
  const odd = steps.find((step) => !Number.isInteger(step) || step < 1 || step > held);
  if (odd !== undefined) throw usage(`--approve must name steps from 1 to ${held}: after all nodes there is nothing to approve`);
  return new Set(steps);
}

/** Parses `0 2 * * 1-5 3h Europe/Berlin; 0 4 * * 6 5h`. */
function windowsOf(text: string | undefined): Window[] | undefined {
  return text?.split(';').map((one) => {
    const words = one.trim().split(/\s+/);
    const [schedule, duration, timeZone, ...more] = [words.slice(0, 5).join(' '), ...words.slice(5)];
    if (schedule === undefined || duration === undefined || more.length > 0)
      throw usage('--window must be five cron fields, a duration and perhaps a time zone, such as "0 2 * * 1-5 3h Europe/Berlin"');
    return { schedule, duration, ...(timeZone === undefined ? {} : { timeZone }) };
  });
}
