import { quantity } from '../../../kube/api/quantity.ts';
import { isObject, own, words } from '../decode/document.ts';
import { parseCpuset } from '../rules/resources.ts';
import type { Preflight } from '../rules/validation.ts';
import type { Json } from '../contract.ts';

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
export function checkManagers(flight: Preflight): void {
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
  if (policy === 'Static') checkReservedMemory(flight);
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

const UNIT = 1_000_000_000n;
/** evictionHard's default, which comes back where mergeDefaultEvictionSettings is on. */
const DEFAULT_EVICTION = '100Mi';
/** A deprecated switch: eviction thresholds are then not reserved. */
const IGNORES_EVICTION = /^--experimental[-_]allocatable[-_]ignore[-_]eviction(?:=(?:1|t|T|true|TRUE|True))?$/;

/**
 * What the memory manager's policy Static asks of reservedMemory. It looks at nothing of this under the policy None.
 * Huge pages are not checked: what of them is reserved is not in the configuration.
 */
export function checkReservedMemory(flight: Preflight): void {
  const entries = flight.list('reservedMemory');
  if (entries.length === 0) {
    flight.add('memoryManagerPolicy', 'memory-manager-reserved', 'Static needs reservedMemory for every NUMA node');
    return;
  }
  numa(flight, entries);
  sum(flight, entries);
}

function numa(flight: Preflight, entries: readonly Json[]): void {
  const field = 'reservedMemory';
  const { numaNodes } = flight.host;
  if (numaNodes === undefined) {
    flight.warn(field, 'numa', 'must name NUMA nodes that the node has');
    return;
  }
  const missing = entries.some((entry) => isObject(entry) && !numaNodes.includes(Number(own(entry, 'numaNode') ?? 0)));
  if (missing) flight.add(field, 'numa', 'names a NUMA node that is not on this node');
}

/** Over all NUMA nodes, exactly what the kubelet takes off the node's memory before it offers it to pods. */
function sum(flight: Preflight, entries: readonly Json[]): void {
  const limits = entries.map((entry) => own(isObject(entry) ? entry : {}, 'limits')).filter((limit) => isObject(limit));
  const reserved = total(limits.map((limit) => own(limit, 'memory')));
  const others = total(['kubeReserved', 'systemReserved'].map((field) => flight.entries(field).find(([kind]) => kind === 'memory')?.[1]));
  const eviction = evictionMemory(flight);
  if (reserved === undefined || others === undefined) return; // no quantities: another error
  const rule = 'memory-manager-sum';
  const text = 'must add up to the memory of kubeReserved, systemReserved and evictionHard together: the kubelet does not start otherwise';
  if (eviction === undefined) flight.warn('reservedMemory', rule, `${text}; what evictionHard keeps free is not known here`);
  else if (reserved !== others + eviction) flight.add('reservedMemory', rule, text);
}

/** @returns in 10^-9 bytes; absent ones count nothing, undefined where one is no quantity */
function total(amounts: readonly (Json | undefined)[]): bigint | undefined {
  let nanos = 0n;
  for (const amount of amounts) {
    if (amount === undefined) continue;
    const read = quantity(words(amount));
    if (read === undefined) return undefined;
    nanos += read.nanos;
  }
  return nanos;
}

/** What evictionHard keeps free, in 10^-9 bytes; undefined where only the host can tell, or nobody. */
function evictionMemory(flight: Preflight): bigint | undefined {
  if (flight.kubelet.args.some((arg) => IGNORES_EVICTION.test(arg))) return 0n;
  const given = flight.entries('evictionHard').find(([signal]) => signal === 'memory.available')?.[1];
  const text = given === undefined && flight.flag('mergeDefaultEvictionSettings') ? DEFAULT_EVICTION : words(given);
  if (text === '' || text === '0%' || text === '100%') return 0n; // these switch the signal off
  if (!text.endsWith('%')) return quantity(text)?.nanos;
  const { memoryBytes } = flight.host;
  // The kubelet keeps shares as 32 bit floats, and drops what is below a byte.
  const share = Math.fround(Math.fround(Number(text.slice(0, -1))) / 100);
  return memoryBytes === undefined || !Number.isFinite(share) ? undefined : BigInt(Math.trunc(Number(memoryBytes) * share)) * UNIT;
}
