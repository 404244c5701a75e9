import { quantity } from '../../../kube/api/quantity.ts';
import { words } from '../decode/document.ts';
import { parseCpuset } from '../rules/cpuset.ts';
import type { Preflight } from './host-validation.ts';
import { judgeReservedMemory } from './memory.ts';

/** Options of a manager's policy: the minor that made them, and from which on they are beta and stable. */
type Options = Readonly<Record<string, { alpha: number; beta?: number; stable?: number; number?: true }>>;

const CPU_OPTIONS: Options = {
  'full-pcpus-only': { alpha: 22, beta: 23, stable: 33 },
  'distribute-cpus-across-numa': { alpha: 23, beta: 33 },
  'align-by-socket': { alpha: 25 },
  'distribute-cpus-across-cores': { alpha: 31 },
  'strict-cpu-reservation': { alpha: 32, beta: 33 },
  'prefer-align-cpus-by-uncorecache': { alpha: 32, beta: 34 },
};
const TOPOLOGY_OPTIONS: Options = {
  'prefer-closest-numa-nodes': { alpha: 26, beta: 28, stable: 32 },
  'max-allowable-numa-nodes': { alpha: 31, beta: 31, number: true },
};

/** CPU, memory and topology managers: policies, their options, and the state files of another policy. */
export function judgeManagers(flight: Preflight): void {
  if (flight.minor >= 33 || flight.gate('CPUManager')) cpu(flight);
  if (flight.minor >= 21 && (flight.minor >= 32 || flight.gate('MemoryManager'))) memory(flight);
  options(flight, 'topologyManagerPolicyOptions', 'TopologyManager', TOPOLOGY_OPTIONS);
}

function cpu(flight: Preflight): void {
  const field = 'cpuManagerPolicy';
  const policy = flight.text(field);
  if (policy !== 'none' && policy !== 'static') flight.add(field, 'cpu-manager-policy', 'must be none or static');
  else state(flight, field, 'cpu-manager-state', flight.host.cpuManagerState, 'cpu_manager_state', 'none');
  if (policy === 'static' && !reservesCpu(flight))
    flight.add(field, 'cpu-manager-reserved', 'static needs CPU in kubeReserved, systemReserved or reservedSystemCPUs');
  if (policy === 'none' && flight.entries('cpuManagerPolicyOptions').length > 0)
    flight.add('cpuManagerPolicyOptions', 'policy-option', 'has no meaning for the policy none, which refuses options');
  options(flight, 'cpuManagerPolicyOptions', 'CPUManager', CPU_OPTIONS);
}

function reservesCpu(flight: Preflight): boolean {
  const cpus = parseCpuset(flight.text('reservedSystemCPUs'), false)?.parts ?? [];
  if (cpus.length > 0) return true;
  return ['kubeReserved', 'systemReserved'].some((field) => {
    const given = flight.value(`${field}.cpu`);
    return typeof given === 'string' && (quantity(given)?.nanos ?? 0n) > 0n;
  });
}

function memory(flight: Preflight): void {
  const field = 'memoryManagerPolicy';
  const policy = flight.text(field);
  if (policy !== 'None' && policy !== 'Static') flight.add(field, 'memory-manager-policy', 'must be None or Static');
  else state(flight, field, 'memory-manager-state', flight.host.memoryManagerState, 'memory_manager_state', 'None');
  if (policy === 'Static') judgeReservedMemory(flight);
}

function state(
  flight: Preflight,
  field: string,
  rule: string,
  found: { policyName: string } | undefined,
  file: string,
  without: string,
): void {
  const policy = flight.text(field);
  if (found !== undefined && found.policyName !== '') {
    if (found.policyName !== policy)
      flight.add(field, rule, `is not the policy of the state file of this node: drain the node, then remove /var/lib/kubelet/${file}`);
  } else if (policy !== without && Object.keys(flight.host).length === 0) {
    flight.warn(field, rule, `must be the policy of the node's /var/lib/kubelet/${file}, if there is one`);
  }
}

function options(flight: Preflight, field: string, manager: string, known: Options): void {
  const given = flight.entries(field);
  if (given.length === 0) return;
  const whole = `${manager}PolicyOptions`;
  if (!flight.gate(whole)) flight.add(field, 'policy-option', `needs feature gate ${whole}`);
  for (const [name, value] of given) {
    const option = known[name];
    if (option === undefined || option.alpha > flight.minor) {
      flight.add(`${field}.${name}`, 'policy-option', `is not an option that kubelet 1.${flight.minor} knows`);
      continue;
    }
    const stage = flight.minor >= (option.stable ?? 99) ? '' : flight.minor >= (option.beta ?? 99) ? 'Beta' : 'Alpha';
    // 1.22 had one gate for all of them.
    const gate = `${manager}Policy${stage}Options`;
    if (stage !== '' && flight.minor > 22 && !flight.gate(gate))
      flight.add(`${field}.${name}`, 'policy-option', `needs feature gate ${gate}`);
    const fits =
      option.number === true ? /^\+?\d{1,9}$/.test(words(value)) : /^(?:1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(words(value));
    if (!fits)
      flight.add(`${field}.${name}`, 'policy-option', option.number === true ? 'must be a number in quotes' : 'must be "true" or "false"');
  }
}
