import { dirname, join } from 'node:path';
import { commandLine } from '../../../agent/host/kubelet.ts';
import { flagInArgs, STARTED_FILE } from '../../../agent/host/unit.ts';
import { agentMetrics, configz, credentialFacts, kubeletExits, optionsFile, settingsFiles } from './agent.ts';
import { configFiles, journalEnd, storeFiles } from './store.ts';
import { systemFacts, unitFiles, unitJournal } from './system.ts';
import { type Collector, hasCommand, ownCommand } from '../collector.ts';
import type { AgentOptions } from '../../../agent/options.ts';
import type { Context } from '../../command.ts';
import type { KnownValues } from '../redact/known-values.ts';

export interface NodeQuery {
  options: AgentOptions;
  /** Why `options` are not those of agent.yaml; undefined: they are. */
  problem: string | undefined;
  /** The node flags as typed, to run other commands of dkc. */
  flags: readonly string[];
  settings: string | undefined;
  sinceMs: number;
  journalLines: number;
}

const KUBELET_CONF = '/etc/kubernetes/kubelet.conf';
const BOOTSTRAP_CONF = '/etc/kubernetes/bootstrap-kubelet.conf';

/** The collectors for this node, most important first: files that no longer fit are dropped from the end. */
export function nodeCollectors(context: Context, query: NodeQuery, known: KnownValues): Collector[] {
  const { options, flags, settings, problem, sinceMs, journalLines } = query;
  const { disk, exec } = context;
  const { dynamicConfigDir: root, kubeletUnit, kubeletExits: exits } = options;
  const withheld = known.add;
  const own = (name: string): Collector => ({
    name: `dkc ${name}`,
    what: `dkc/${name.replaceAll(' ', '-')}.json: output of dkc ${name}`,
    collect: async (signal) => [
      await ownCommand({ ...context, signal }, [...name.split(' '), ...flags], `dkc/${name.replaceAll(' ', '-')}.json`),
    ],
  });
  return [
    { name: 'options', what: 'options.json: the settings of this node', collect: async () => [optionsFile(options, problem)] },
    {
      name: 'versions',
      what: 'versions.json: dkc, kubelet, systemd, kernel, OS',
      collect: async (signal) => {
        const line = await commandLine({ options, disk, exec, log: context.log });
        return systemFacts(context, line.program ?? 'kubelet', signal);
      },
    },
    ...['status', 'checkpoints list', 'checkpoints verify', 'doctor'].filter(hasCommand).map(own),
    {
      name: 'settings',
      what: 'config/agent.yaml, config/policy.yaml: redacted',
      collect: () => settingsFiles(disk, settings, options.policy, withheld),
    },
    {
      name: 'configurations',
      what: 'config/: the effective, local and started configuration, redacted',
      collect: () => configFiles(disk, options, join(dirname(exits), STARTED_FILE), withheld),
    },
    {
      name: 'kubelet exits',
      what: 'kubelet-exits: the last exits of the kubelet',
      collect: async () => [await kubeletExits(disk, exits, journalLines)],
    },
    {
      name: 'history',
      what: "store/store/journal.jsonl: the end of the store's journal",
      collect: async () => [await journalEnd(disk, root, journalLines)],
    },
    {
      name: 'store',
      what: 'store/: records, manifests and checkpoints, redacted, and a list of all files',
      collect: () => storeFiles(context, options, withheld),
    },
    {
      name: 'units',
      what: 'units/: units and drop-ins of agent and kubelet, their state, the command line',
      collect: (signal) => unitFiles(context, kubeletUnit, signal),
    },
    {
      name: 'credentials',
      what: 'credentials.json: kind, user and expiry of the credentials, no content',
      collect: async () => {
        const { args } = await commandLine({ options, disk, exec, log: context.log });
        const kubelet = flagInArgs('--kubeconfig', args) ?? KUBELET_CONF;
        const bootstrap = flagInArgs('--bootstrap-kubeconfig', args) ?? BOOTSTRAP_CONF;
        return [await credentialFacts(disk, { agent: options.kubeconfig, kubelet, bootstrap }, withheld)];
      },
    },
    {
      name: 'metrics',
      what: "metrics.txt: the agent's metrics",
      collect: async (signal) => [await agentMetrics(options.metricsBindAddress, signal)],
    },
    {
      name: 'configz',
      what: 'config/configz.yaml: what the running kubelet uses, redacted',
      collect: async (signal) => [await configz(options, withheld, signal)],
    },
    ...['dkc-agent.service', ...(kubeletUnit === '' ? [] : [kubeletUnit])].map((unit) => ({
      name: `journal of ${unit}`,
      what: `journal/${unit}.log: its newest lines`,
      collect: async (signal: AbortSignal) => [await unitJournal(context, unit, sinceMs, journalLines, signal)],
    })),
  ];
}
