import { dnsLabelProblems } from '../../kube/api/names.ts';
import { parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import { processSettings, type ProcessSettings, usageOf } from '../process/settings.ts';
import { pageSettings, type PageSettings } from './page.ts';
import type { DaemonSetOptions } from '../../controllers/daemonset/types.ts';
import type { RolloutOptions } from '../../controllers/rollout/observe.ts';
import type { StatefulSetOptions } from '../../controllers/statefulset/types.ts';
import type { Args } from '../args/args.ts';
import { nearest } from '../../base/errors.ts';

const COMMAND = 'controllers run';
const usage = usageOf(COMMAND);

/** What a command line of `dkc controllers run` asks for, checked. */
export interface ControllersSettings extends ProcessSettings {
  controllers: readonly ControllerName[];
  daemonSet: DaemonSetOptions;
  statefulSet: StatefulSetOptions;
  rollout: RolloutOptions;
  /** File of the Prometheus servers that want credentials. */
  prometheusConfig: string | undefined;
  /** Served beside the rollout controller; undefined: it is not. */
  page: PageSettings | undefined;
  resyncMs: number;
}

/** @throws {UsageError} naming the flag and what it must be */
export function controllersSettings(args: Args): ControllersSettings {
  const names = readControllerNames(args.text('controllers') ?? '');
  if (!names.ok) throw usage('controllers', names.problem);
  const workers = args.number('concurrent-syncs') ?? 0;
  if (workers < 1) throw usage('concurrent-syncs', 'must be 1 or more');
  const namespace = args.text('namespace') ?? '';
  if (namespace !== '' && dnsLabelProblems(namespace).length > 0) throw usage('namespace', 'must be a namespace');
  const objectSelector = args.text('object-selector') ?? '';
  mustBeSelector(objectSelector);
  const settings = processSettings(COMMAND, args);
  const sets = { workers, ...(namespace === '' ? {} : { namespace }), ...(objectSelector === '' ? {} : { objectSelector }) };
  const placement = args.text('daemonset-placement') === 'controller' ? 'controller' : 'scheduler';
  if (placement === 'controller' && !names.names.includes('daemonset'))
    throw usage('daemonset-placement', 'applies to DaemonSets, which --controllers excludes');
  const configMapNamespace = args.text('rollout-namespace') ?? '';
  if (dnsLabelProblems(configMapNamespace).length > 0) throw usage('rollout-namespace', 'must be a namespace');
  return {
    ...settings,
    controllers: names.names,
    daemonSet: { placement, ...sets },
    statefulSet: sets,
    rollout: { configMapNamespace, workers, ...maxUnavailableOf(args.text('rollout-max-unavailable')) },
    prometheusConfig: args.text('rollout-prometheus-config') || undefined,
    page: names.names.includes('rollout') ? pageSettings(COMMAND, args) : undefined,
    resyncMs: args.ms('resync') ?? 0,
  };
}

/** 0 would hold every rollout for ever: `dkc rollout pause` says who did. */
function maxUnavailableOf(text: string | undefined): Pick<RolloutOptions, 'maxUnavailable'> {
  if (text === undefined || text === '') return {};
  const isPercent = /^(100|[1-9][0-9]?)%$/.test(text);
  if (!isPercent && !/^[1-9][0-9]{0,5}$/.test(text))
    throw usage('rollout-max-unavailable', 'must be a number of nodes from 1 on, or a percentage from 1% to 100%');
  return { maxUnavailable: isPercent ? text : Number(text) };
}

function mustBeSelector(text: string): void {
  try {
    parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError)
      throw usage('object-selector', `must be a label selector such as app=web,tier!=test: ${error.message}`);
    throw error;
  }
}

/** What `dkc controllers run` can run. */
export const controllerNames = ['daemonset', 'statefulset', 'rollout'] as const;
export type ControllerName = (typeof controllerNames)[number];

/** Without a flag: what every API server has the kinds for. */
export const DEFAULT_CONTROLLERS: readonly ControllerName[] = ['daemonset', 'statefulset'];

type NamesRead = { ok: true; names: readonly ControllerName[] } | { ok: false; problem: string };

/** Reads `--controllers=a,b`: each name once, in the order of {@link controllerNames}. */
function readControllerNames(text: string): NamesRead {
  const asked = text.split(',').map((name) => name.trim());
  const there = controllerNames.join(', ');
  for (const name of asked) {
    if (name === '') return { ok: false, problem: `has an empty name; known: ${there}` };
    if (!isControllerName(name)) {
      const meant = nearest(name, controllerNames);
      return {
        ok: false,
        problem: `has an unknown controller ${JSON.stringify(name)}${meant === undefined ? `; known: ${there}` : `, did you mean ${meant}?`}`,
      };
    }
  }
  return { ok: true, names: controllerNames.filter((name) => asked.includes(name)) };
}

const isControllerName = (name: string): name is ControllerName => controllerNames.some((known) => known === name);
