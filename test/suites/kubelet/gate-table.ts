import type { Gate } from '../../../agent/config/gates/gates.ts';
import { STAGES } from '../../../agent/config/gates/gates.ts';

/** A gate as `kubelet-validate -gates` prints it, one JSON object a line. */
interface Printed {
  name: string;
  /** '' is GA. */
  stage: '' | 'ALPHA' | 'BETA' | 'DEPRECATED';
  default: boolean;
  locked: boolean;
}

/** Gates by name, by the minor of the kubelet that was asked. */
export type Measured = ReadonlyMap<number, ReadonlyMap<string, Gate>>;

const stageOf = { '': 'stable', ALPHA: 'alpha', BETA: 'beta', DEPRECATED: 'deprecated' } as const;

/**
 * What builds of OpenShift's tree have and upstream's kubelet does not: gates of its own, and gates brought from a later release.
 * They stay out of the table. Sources: the names are in none of upstream's lists; upstream added streaming encoding in 1.33.
 */
const NOT_UPSTREAM: readonly { name: RegExp; until: number }[] = [
  { name: /^(?:MinimumKubeletVersion|RouteExternalCertificate|StoragePerformantSecurityPolicy)$/, until: Infinity },
  { name: /^StreamingCollectionEncodingTo(?:JSON|Protobuf)$/, until: 32 },
];
/** On in such builds; upstream has it off until it became stable, and locked, in 1.36. */
export const ON_IN_BUILDS = { name: 'NodeLogQuery', since: 32, until: 35 };

/** The gates that a kubelet of `minor` has, from what `kubelet-validate -gates` printed, as upstream has them. */
export function printedGates(text: string, minor: number): Map<string, Gate> {
  const gates = new Map<string, Gate>();
  for (const line of text.trim().split('\n')) {
    const { name, stage, default: on, locked } = JSON.parse(line) as Printed;
    if (NOT_UPSTREAM.some((other) => other.name.test(name) && minor <= other.until)) continue;
    const off = name === ON_IN_BUILDS.name && minor <= ON_IN_BUILDS.until;
    gates.set(name, { name, stage: stageOf[stage], default: on && !off, locked });
  }
  return gates;
}

/** What the table would have to say to agree with the measured kubelets: pairs of lines, '' for a line that is not there. */
export function changedGateLines(lines: readonly string[], measured: Measured): { from: string; to: string }[] {
  const old = new Map(lines.map((line) => [line.split(' ')[0] ?? '', line]));
  const names = new Set([...old.keys(), ...[...measured.values()].flatMap((gates) => [...gates.keys()])]);
  return [...names].sort(byName).flatMap((name) => {
    const from = old.get(name) ?? '';
    const to = lineFor(name, from, measured);
    return from === to ? [] : [{ from, to }];
  });
}

/** Letters, whatever their case: as the table is sorted. */
export const byName = (a: string, b: string): number => a.localeCompare(b, 'en');

function lineFor(name: string, line: string, measured: Measured): string {
  const minors = [...measured.keys()].sort((a, b) => a - b);
  const [first = 0, last = 0] = [minors[0], minors.at(-1)];
  const steps = line.split(' ').slice(1);
  const kept = steps.filter((step) => minorOf(step) < first);
  const made = minors.map((minor) => `${codeOf(measured.get(minor)?.get(name))}${minor}`);
  const later = steps.filter((step) => minorOf(step) > last);
  const all: string[] = [];
  for (const step of [...kept, ...made, ...later]) if (step.charAt(0) !== (all.at(-1)?.charAt(0) ?? GONE)) all.push(step);
  return all.length === 0 ? '' : [name, ...all].join(' ');
}

const GONE = 'x';
const minorOf = (step: string): number => Number(step.slice(1));

function codeOf(gate: Gate | undefined): string {
  if (gate === undefined) return GONE;
  const code = Object.entries(STAGES).find(
    ([, { stage, default: on, locked }]) => stage === gate.stage && on === gate.default && locked === gate.locked,
  )?.[0];
  if (code === undefined) throw new Error(`The table has no letter for ${JSON.stringify(gate)}: add one to STAGES`);
  return code;
}
