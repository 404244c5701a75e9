import { quantity } from '../../../kube/api/quantity.ts';
import { isObject, own, scalarText } from '../decode/document.ts';
import { parseCpuset } from '../rules/resources.ts';
import type { Preflight } from '../rules/validation.ts';
import type { Json } from '../contract.ts';
import { keptFree } from './allocatable.ts';

/** Options of a manager's policy: their first minors as alpha, beta and stable. `least`: minimum of a numeric option. */
type Options = Readonly<Record<string, { alpha: number; beta?: number; stable?: number; least?: number }>>;

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
  'max-allowable-numa-nodes': { alpha: 31, beta: 31, least: 8 },
};

/** CPU, memory and topology managers: policies, their options, and the state files of another policy. */
export function checkManagers(flight: Preflight): void {
  if (flight.minor >= 33 || flight.gate('CPUManager')) cpu(flight);
  if (flight.minor >= 21 && (flight.minor >= 32 || flight.gate('MemoryManager'))) memory(flight);
  // Under the policy none the options are not read, though they need their gate.
  options(
    flight,
    'topologyManagerPolicyOptions',
    'TopologyManager',
    flight.text('topologyManagerPolicy') === 'none' ? undefined : TOPOLOGY_OPTIONS,
  );
  otherStates(flight);
}

/** State files that a kubelet reads at its start with any configuration: the first minor of each, and its feature gate. */
const STATES = [
  { file: 'allocated_pods_state', since: 33, gate: 'InPlacePodVerticalScaling' },
  { file: 'dra_manager_state', since: 32, gate: 'DynamicResourceAllocation' },
];

function otherStates(flight: Preflight): void {
  for (const { file, since, gate } of STATES)
    if (flight.minor >= since && flight.gate(gate) && flight.host.damagedStates?.includes(file) === true)
      flight.add('', 'state-file', `${damaged(file)}, whatever its config`);
}

const damaged = (file: string): string =>
  `the state file ${file} of this node is damaged, and the kubelet does not start with it: drain the node, then remove /var/lib/kubelet/${file}`;

function cpu(flight: Preflight): void {
  const field = 'cpuManagerPolicy';
  const policy = flight.text(field);
  if (policy !== 'none' && policy !== 'static') flight.add(field, 'cpu-manager-policy', 'must be none or static');
  else state(flight, field, 'cpu-manager-state', flight.host.cpuManagerState, 'cpu_manager_state', 'none');
  sharedCpus(flight);
  if (policy === 'static' && !reservesCpu(flight))
    flight.add(field, 'cpu-manager-reserved', 'static needs CPU in kubeReserved, systemReserved or reservedSystemCPUs');
  if (policy === 'none' && flight.entries('cpuManagerPolicyOptions').length > 0)
    flight.add('cpuManagerPolicyOptions', 'policy-option', 'has no meaning for the policy none, which refuses options');
  options(flight, 'cpuManagerPolicyOptions', 'CPUManager', CPU_OPTIONS);
}

/** Containers keep their exclusive CPUs over a kubelet restart: the reserved CPUs must be among the shared ones. */
function sharedCpus(flight: Preflight): void {
  const state = flight.host.cpuManagerState;
  if (flight.text('cpuManagerPolicy') !== 'static' || state?.policyName !== 'static' || state.sharedCpus === undefined) return;
  if (['true', '1', 't', 'T', 'TRUE', 'True'].includes(scalarText(flight.value('cpuManagerPolicyOptions.strict-cpu-reservation')))) return;
  const shared = new Set(state.sharedCpus);
  const cpus = parseCpuset(flight.text('reservedSystemCPUs'), false)?.parts ?? [];
  const field = cpus.length > 0 ? 'reservedSystemCPUs' : 'kubeReserved.cpu';
  const nanos = ['kubeReserved', 'systemReserved'].map((name) => quantity(scalarText(flight.value(`${name}.cpu`)))?.nanos ?? 0n);
  const needed = (nanos.reduce((sum, one) => sum + one, 0n) + UNIT - 1n) / UNIT;
  const lacks =
    cpus.length > 0 ? cpus.some(([from, to]) => to - from >= shared.size || !all(from, to, shared)) : needed > BigInt(shared.size);
  if (lacks)
    flight.add(
      field,
      'cpu-manager-state',
      'reserves CPUs that the state file of this node gives to containers: drain the node, then remove /var/lib/kubelet/cpu_manager_state',
    );
}

const UNIT = 1_000_000_000n;

function all(from: number, to: number, set: ReadonlySet<number>): boolean {
  for (let cpu = from; cpu <= to; cpu++) if (!set.has(cpu)) return false;
  return true;
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
  if (flight.host.damagedStates?.includes(file) === true) flight.add(field, rule, `cannot be used: ${damaged(file)}`);
  else if (found !== undefined && found.policyName !== '') {
    if (found.policyName !== policy)
      flight.add(field, rule, `is not the policy of the state file of this node: drain the node, then remove /var/lib/kubelet/${file}`);
  } else if (policy !== without && Object.keys(flight.host).length === 0) {
    flight.warn(field, rule, `must be the policy of the node's /var/lib/kubelet/${file}, if there is one`);
  }
}

/** @param known - absent where the policy reads no options */
function options(flight: Preflight, field: string, manager: string, known: Options | undefined): void {
  const given = flight.entries(field);
  if (given.length === 0) return;
  const whole = `${manager}PolicyOptions`;
  if (!flight.gate(whole)) flight.add(field, 'policy-option', `needs feature gate ${whole}`);
  for (const [name, value] of known ? given : []) {
    const option = known?.[name];
    if (option === undefined || option.alpha > flight.minor) {
      flight.add(`${field}.${name}`, 'policy-option', `is not an option that kubelet 1.${flight.minor} knows`);
      continue;
    }
    const stage = flight.minor >= (option.stable ?? 99) ? '' : flight.minor >= (option.beta ?? 99) ? 'Beta' : 'Alpha';
    // 1.22 had one gate for all options.
    const gate = `${manager}Policy${stage}Options`;
    if (stage !== '' && flight.minor > 22 && !flight.gate(gate))
      flight.add(`${field}.${name}`, 'policy-option', `needs feature gate ${gate}`);
    const { least } = option;
    const text = scalarText(value);
    if (least === undefined && !/^(?:1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(text))
      flight.add(`${field}.${name}`, 'policy-option', 'must be "true" or "false"');
    if (least !== undefined && !(/^\+?\d{1,9}$/.test(text) && Number(text) >= least))
      flight.add(`${field}.${name}`, 'policy-option', `must be a number in quotes, ${least} or more`);
  }
}

/** Requirements of the memory manager's policy Static for reservedMemory. The policy None checks nothing of this. */
function checkReservedMemory(flight: Preflight): void {
  const entries = flight.list('reservedMemory');
  if (entries.length === 0) {
    flight.add('memoryManagerPolicy', 'memory-manager-reserved', 'Static needs reservedMemory for every NUMA node');
    return;
  }
  numa(flight, entries);
  sum(flight, entries);
  hugePages(flight, entries);
  unchanged(flight, entries);
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

/** The sum over all NUMA nodes must equal what the kubelet subtracts from the node's memory to get allocatable. */
function sum(flight: Preflight, entries: readonly Json[]): void {
  const limits = entries.map((entry) => own(isObject(entry) ? entry : {}, 'limits')).filter((limit) => isObject(limit));
  const reserved = total(limits.map((limit) => own(limit, 'memory')));
  const others = total(['kubeReserved', 'systemReserved'].map((field) => flight.entries(field).find(([kind]) => kind === 'memory')?.[1]));
  const eviction = keptFree(flight, 'memory.available', flight.host.memoryBytes);
  if (reserved === undefined || others === undefined) return; // not quantities: reported by another rule
  const rule = 'memory-manager-sum';
  const text = 'must add up to the memory of kubeReserved, systemReserved and evictionHard together: the kubelet does not start otherwise';
  if (eviction === undefined) flight.warn('reservedMemory', rule, `${text}; what evictionHard keeps free is not known here`);
  else if (reserved !== others + eviction) flight.add('reservedMemory', rule, text);
}

/** Huge pages of a size that the host has not allocated cannot be reserved. */
function hugePages(flight: Preflight, entries: readonly Json[]): void {
  const sizes = new Set(
    entries.flatMap((entry) => {
      const limits = own(isObject(entry) ? entry : {}, 'limits');
      return isObject(limits) ? Object.keys(limits).filter((kind) => kind.startsWith('hugepages-')) : [];
    }),
  );
  if (sizes.size === 0) return;
  const { hugePages: there } = flight.host;
  const [field, rule] = ['reservedMemory', 'huge-pages'];
  if (there === undefined) flight.warn(field, rule, 'reserves huge pages: the kubelet does not start on a node without them');
  else if (![...sizes].every((size) => there.includes(size)))
    flight.add(field, rule, 'reserves huge pages of a size that this node has none of');
}

/** The state file has the reservation per NUMA node, and the policy Static does not start with another one. */
function unchanged(flight: Preflight, entries: readonly Json[]): void {
  const state = flight.host.memoryManagerState;
  if (state?.policyName !== 'Static' || state.reserved === undefined) return;
  const now = new Map<string, bigint>();
  for (const entry of entries.filter((one) => isObject(one))) {
    const limits = own(entry, 'limits');
    const amount = quantity(scalarText(isObject(limits) ? own(limits, 'memory') : undefined));
    if (amount !== undefined) now.set(scalarText(own(entry, 'numaNode') ?? 0), amount.nanos / UNIT);
  }
  const differs = Object.entries(state.reserved).some(([node, bytes]) => (now.get(node) ?? 0n) !== bytes);
  if (differs)
    flight.add(
      'reservedMemory',
      'memory-manager-state',
      'is not what the state file of this node was written with: drain the node, then remove /var/lib/kubelet/memory_manager_state',
    );
}

/** @returns in units of 10^-9 byte; absent amounts count as 0, undefined where one is not a quantity */
function total(amounts: readonly (Json | undefined)[]): bigint | undefined {
  let nanos = 0n;
  for (const amount of amounts) {
    if (amount === undefined) continue;
    const read = quantity(scalarText(amount));
    if (read === undefined) return undefined;
    nanos += read.nanos;
  }
  return nanos;
}
