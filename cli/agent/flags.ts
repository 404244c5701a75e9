import { SHAPES } from '../../agent/config/version.ts';
import { agentDefaults, type AgentOptions } from '../../agent/options.ts';
import { formatGoDuration } from '../../base/go-duration.ts';
import type { Completes, Flag } from '../command.ts';

/** A setting of the agent: a flag on the command line, a key in /etc/dkc/agent.yaml. */
export interface AgentFlag extends Flag {
  /** Key in /etc/dkc/agent.yaml and in {@link AgentOptions}. */
  key: keyof AgentOptions;
  /** A path: the value of the flag is resolved against the working directory; the value in the file must be absolute. */
  path?: true;
  /** Commands on a node's store accept this flag too. */
  nodeSide?: true;
  /** Checks the value beyond its type. @returns what the value must be; undefined: it is valid */
  check?(value: string | number): string | undefined;
}

type Extra = Partial<Pick<AgentFlag, 'alias' | 'value' | 'choices' | 'defaultText' | 'completes' | 'path' | 'nodeSide' | 'check'>>;

const nodeSide = true;
const path = true;

const flag = (type: Flag['type'], key: keyof AgentOptions, text: string, extra: Extra = {}): AgentFlag => {
  const known = key === 'nodeName' ? undefined : agentDefaults[key];
  const defaultText = extra.defaultText ?? (known === undefined ? undefined : shownDefault(type, known));
  const completes: { completes?: Completes } = extra.value === 'DIR' ? { completes: 'dir' } : extra.path ? { completes: 'file' } : {};
  return { key, name: kebab(key), type, text, ...completes, ...extra, ...(defaultText === undefined ? {} : { defaultText }) };
};

const atLeast = (least: number) => (value: string | number) => (Number(value) < least ? `must be ${least} or more` : undefined);
const moreThanNone = (value: string | number): string | undefined => (value === 0 ? 'must be more than 0' : undefined);
const matches = (pattern: RegExp, what: string) => (value: string | number) =>
  pattern.test(String(value)) ? undefined : `must be ${what}`;
// The pattern alone accepts a port of six digits: the health probe of such a URL would always fail, even with a healthy kubelet.
const urlOrNone = (pattern: RegExp, what: string) => (value: string | number) =>
  value === '' || (pattern.test(String(value)) && URL.canParse(String(value))) ? undefined : `must be ${what}`;

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const nodeNameShape = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);
const versionShape = /^v?\d{1,4}\.\d{1,4}(\.\d{1,6})?([-+][0-9A-Za-z.+_~-]*)?$/;
// The same rule as in systemd/kubelet-sync, which passes the name to systemctl as an argument.
const unitShape = /^([A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]*)?$/;
const addressShape = /^((?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5})?$/;

/** Every setting, in the order of `dkc agent run --help`. */
export const agentFlags: readonly AgentFlag[] = [
  flag('string', 'nodeName', 'name of this node', {
    value: 'NAME',
    nodeSide,
    defaultText: 'host name, lower case',
    check: matches(nodeNameShape, 'a DNS name in lower case'),
  }),
  flag('string', 'kubeconfig', 'path to the kubeconfig; without it the agent receives no assignments', {
    value: 'FILE',
    path,
    nodeSide,
  }),
  flag('string', 'dynamicConfigDir', 'directory of the store and all other files of the agent', { value: 'DIR', path, nodeSide }),
  flag('string', 'localConfig', "the node's own kubelet config, used as the last fallback", { value: 'FILE', path, nodeSide }),
  flag('string', 'effectiveConfig', 'file that the kubelet reads', {
    value: 'FILE',
    path,
    nodeSide,
    defaultText: 'kubelet.yaml in --dynamic-config-dir',
  }),
  flag('string', 'kubeletUnit', 'systemd unit of the kubelet, restarted on a change; empty = restart nothing', {
    value: 'UNIT',
    check: matches(unitShape, 'the name of a unit'),
  }),
  flag('string', 'kubeletHealthz', 'health endpoint of the kubelet; empty = not checked, a trial ends by time alone', {
    value: 'URL',
    check: urlOrNone(/^https?:\/\/[^\s/]+.*$/, 'an http or https URL'),
  }),
  flag(
    'string',
    'kubeletConfigz',
    '/configz endpoint of the kubelet, compared with the effective file; uses the credentials in --kubeconfig; empty = not compared',
    {
      value: 'URL',
      check: urlOrNone(/^https:\/\/[^\s/]+\/\S+$/, 'an https URL such as https://127.0.0.1:10250/configz'),
    },
  ),
  flag('string', 'kubeletExits', 'file in which exits of the kubelet are recorded', { value: 'FILE', path }),
  flag('string', 'kubeletVersion', 'kubelet version to validate for', {
    value: 'VERSION',
    nodeSide,
    defaultText: 'from the Node object or the binary',
    check: matches(versionShape, `a version such as ${SHAPES}`),
  }),
  flag('string', 'kubeletArgs', "file with the kubelet's arguments, one per line", {
    value: 'FILE',
    path,
    defaultText: "the running unit's",
  }),
  flag('string', 'merge', 'whether the ConfigMap replaces the local config or is merged into it', {
    value: 'MODE',
    choices: ['replace', 'overlay'],
    nodeSide,
  }),
  flag('boolean', 'preflight', 'validate a config before the kubelet is restarted with it'),
  flag('string', 'policy', 'policy for fields that may differ from the local config; none disables it', {
    value: 'FILE|none',
    path,
    nodeSide,
    defaultText: '/etc/dkc/policy.yaml where it exists',
  }),
  flag('string', 'assignment', 'API object that assigns the config: the Node, its NodeConfig, or whichever the API server supports', {
    value: 'CARRIER',
    choices: ['auto', 'node', 'nodeconfig'],
  }),
  flag('string', 'configmapNamespace', 'only namespace that ConfigMaps may be in; empty = any', {
    value: 'NAMESPACE',
    check: matches(new RegExp(`^(${LABEL})?$`), 'a namespace'),
  }),
  flag('duration', 'trialDuration', 'healthy time before a config is trusted', { value: 'TIME', check: moreThanNone }),
  flag(
    'string',
    'trialHealth',
    'what counts as healthy in a trial: kubelet = the kubelet alone, node = also its Node, pods = also the pods of the node',
    {
      value: 'CHECKS',
      choices: ['pods', 'node', 'kubelet'],
      defaultText: 'pods if the agent may list them, else node',
    },
  ),
  flag('duration', 'unhealthyDeadline', 'how long the kubelet may stay unhealthy before the config is condemned', {
    value: 'TIME',
    check: moreThanNone,
  }),
  flag('number', 'maxKubeletExits', 'kubelet exits during one boot before a config is condemned', {
    value: 'N',
    check: atLeast(1),
  }),
  flag('duration', 'syncInterval', 'wait before a failed sync is retried, or a rejected config evaluated again', {
    value: 'TIME',
    check: moreThanNone,
  }),
  flag('duration', 'restartSpread', 'maximum random delay before a change is applied', { value: 'TIME' }),
  flag('number', 'keepCheckpoints', 'unused checkpoints to keep', { value: 'N' }),
  flag('string', 'metricsBindAddress', 'address of the metrics endpoint; empty = off', {
    value: 'HOST:PORT',
    check: matches(addressShape, 'HOST:PORT'),
  }),
  flag('count', 'verbosity', 'more log output; may be repeated', { alias: 'v' }),
];

/** Selects another settings file. */
export const agentFileFlag: Flag = {
  name: 'agent-config',
  type: 'string',
  value: 'FILE',
  text: 'settings file to read instead of /etc/dkc/agent.yaml',
  completes: 'file',
};

/** All flags of `dkc agent run`: its settings, and flags that have no key in agent.yaml. */
export const runFlags: readonly Flag[] = [
  ...agentFlags,
  { name: 'once', type: 'boolean', text: 'boot only: write the effective file, print the choice and exit' },
  {
    name: 'output',
    alias: 'o',
    type: 'string',
    value: 'FORMAT',
    choices: ['table', 'wide', 'json', 'yaml'],
    default: 'table',
    text: 'output format of --once',
  },
  agentFileFlag,
];

/** Texts of the flags by which commands on a node find what the agent of this node uses. */
const nodeFlagTexts = {
  'node-name': 'name of this node',
  kubeconfig: 'path to the kubeconfig',
  'dynamic-config-dir': 'directory of the store',
  'local-config': "the node's own kubelet config, used as the last fallback",
  'effective-config': 'file that the kubelet reads',
  'kubelet-version': 'kubelet version whose rules apply',
  merge: 'whether a ConfigMap replaces the local config or is merged into it',
  policy: 'policy for fields that may differ from the local config; none disables it',
  'agent-config': agentFileFlag.text,
} as const;
const nodeFlagDefaults: Partial<Record<NodeFlag, string>> = { 'kubelet-version': 'as found on this machine, else the latest known' };
export type NodeFlag = keyof typeof nodeFlagTexts;

/**
 * All node flags, since an alias or a script may pass the same ones to every command; help shows only those that this command uses.
 * @param texts - what a flag means for this command, where that differs
 */
export function nodeFlagsFor(heeded: readonly NodeFlag[], texts: Partial<Record<NodeFlag, string>> = {}): readonly Flag[] {
  return [...agentFlags.filter((flag) => flag.nodeSide), agentFileFlag].map((flag) => {
    const name = flag.name as NodeFlag;
    const hidden = name !== 'agent-config' && !heeded.includes(name);
    const defaultText = texts[name] === undefined ? (nodeFlagDefaults[name] ?? flag.defaultText) : undefined;
    const { defaultText: _agents, ...rest } = flag;
    const shown = defaultText === undefined ? {} : { defaultText };
    return { ...rest, ...shown, text: texts[name] ?? nodeFlagTexts[name], ofNode: true, ...(hidden ? { hidden } : {}) };
  });
}

export const nodeFlags: readonly Flag[] = nodeFlagsFor(Object.keys(nodeFlagTexts) as NodeFlag[]);

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function shownDefault(type: Flag['type'], value: string | number | boolean): string {
  if (value === '') return 'empty';
  if (type !== 'duration') return String(value);
  return formatGoDuration(BigInt(value) * 1_000_000n)
    .replace(/m0s$/, 'm')
    .replace(/h0m$/, 'h');
}
