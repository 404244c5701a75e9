import type { Millis } from '../../base/clock.ts';
import { stepsFor } from '../../controllers/rollout/rules.ts';
import type { NodeConfigRollout, Phase } from '../../controllers/rollout/types.ts';
import { age, ago } from '../node/spoken.ts';
import type { Column, Paint, People } from '../output/output.ts';
import { RUN_CONTROLLER } from '../../deploy/deployments.ts';
import { isObserved, objectsOf, readRules } from './rollouts.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import { printable } from '../output/printable.ts';
import type { NodeView, RolloutView, StepView } from './view.ts';

/** The table of all rollouts: the columns of `kubectl get ncr`. */
export const rolloutColumns = (now: Millis): Column<NodeConfigRollout>[] => [
  { title: 'NAME', value: ({ metadata }) => metadata.name ?? '' },
  {
    title: 'PHASE',
    value: ({ status }) => status?.phase ?? '',
    paint: (cell, { status }, paint) => paint[signOf(status?.phase ?? 'Pending').tone](cell),
  },
  { title: 'STEP', value: (one) => stepOf(one) },
  { title: 'SELECTED', value: ({ status }) => numberText(status?.nodes?.selected) },
  { title: 'UPDATED', value: ({ status }) => numberText(status?.nodes?.updated) },
  { title: 'SETTLED', value: ({ status }) => numberText(status?.nodes?.settled) },
  { title: 'FAILED', value: ({ status }) => numberText(status?.nodes?.failed) },
  { title: 'AGE', value: ({ metadata }) => age(metadata.creationTimestamp, now) },
  { title: 'REVISION', value: ({ status }) => status?.revision ?? '', wide: true },
  { title: 'WAITS-FOR', value: ({ status }) => status?.waitsFor ?? '', wide: true },
  { title: 'MESSAGE', value: ({ status }) => status?.message ?? '', wide: true },
];

const numberText = (count: number | undefined): string => (count === undefined ? '' : String(count));

/** `2/4`. */
export function stepOf(rollout: Readonly<NodeConfigRollout>): string {
  const { step, nodes } = rollout.status ?? {};
  return step === undefined ? '' : `${step}/${stepsFor(readRules(rollout), nodes?.selected ?? 0).length}`;
}

/** Maximum number of nodes listed under a step; the others are counted. With -o wide all are listed. */
const MAX_NODES = 10;

type Tone = keyof Pick<Paint, 'red' | 'green' | 'yellow' | 'cyan' | 'dim'>;
interface Sign {
  icon: string;
  tone: Tone;
}

const phases: Readonly<Record<Phase, Sign>> = {
  Pending: { icon: '◌', tone: 'yellow' },
  Progressing: { icon: '◌', tone: 'cyan' },
  Holding: { icon: '◷', tone: 'yellow' },
  Paused: { icon: '॥', tone: 'yellow' },
  Complete: { icon: '✔', tone: 'green' },
  RollingBack: { icon: '↺', tone: 'red' },
  RolledBack: { icon: '✖', tone: 'red' },
  Failed: { icon: '✖', tone: 'red' },
};
/** A controller that is newer than this program may report unknown phases. */
const signOf = (phase: string): Sign => (Object.hasOwn(phases, phase) ? phases[phase as Phase] : { icon: '•', tone: 'dim' });

const states: Readonly<Record<NodeView['state'], Sign>> = {
  settled: { icon: '✔', tone: 'green' },
  'in-flight': { icon: '◌', tone: 'cyan' },
  failed: { icon: '✖', tone: 'red' },
  waiting: { icon: '•', tone: 'dim' },
  'not-ready': { icon: '⚠', tone: 'yellow' },
  'no-agent': { icon: '⚠', tone: 'yellow' },
};

/** A rollout as a tree: its fields, then its steps, each with the nodes that it adds. Ends with a newline. */
export function treeText({ rollout, rules, steps }: RolloutView, now: Millis, { wide, paint }: People): string {
  const { metadata, status = {} } = rollout;
  const { phase = 'Pending', nodes, revision, previousRevision, nextWindow, waitsFor, failures, approvals } = status;
  const { icon, tone } = signOf(phase);
  const rows: [string, string][] = [
    ['Name', printable(rules.name)],
    ['Phase', paint[tone](`${icon} ${printable(phase)}${waitsFor === undefined ? '' : ` (waits for: ${printable(waitsFor)})`}`)],
    ['ConfigMap', printable(sourceText(rules.configMap))],
    ['Revision', printable(revision ?? '-')],
    ['Previous', printable(previousRevision ?? 'local')],
    ['Created', ago(metadata.creationTimestamp, now)],
  ];
  if (nodes !== undefined) {
    const { selected, updated, settled, inFlight, failed, refused } = nodes;
    rows.push(['Nodes', `${selected} selected, ${updated} updated, ${settled} settled, ${inFlight} in flight, ${failed} failed, ${refused} refused`]); // prettier-ignore
  }
  if (nextWindow !== undefined) rows.push(['Next window', printable(nextWindow)]);
  if (status.message !== undefined) rows.push(['Message', printable(status.message)]);
  for (const { type, status: isSo, message } of objectsOf(status.conditions))
    if ((type === 'Conflict' && isSo === 'True') || (type === 'Preflight' && isSo === 'False')) rows.push([type, printable(message)]);
  for (const { step, by, at } of objectsOf(approvals)) rows.push(['Approved', printable(`step ${step} by ${by}, ${ago(at, now)}`)]);
  for (const { node, error, at } of objectsOf(failures).slice(0, MAX_NODES))
    rows.push(['Failed', printable(`${node}: ${error} (${ago(at, now)})`)]);
  if (!isObserved(rollout)) rows.push(['Controller', paint.yellow(`has not seen this spec yet; is it running? ${RUN_CONTROLLER}`)]);
  const width = Math.max(...rows.map(([title]) => title.length)) + 1;
  const head = rows.map(([title, value]) => `${`${title}:`.padEnd(width)}   ${value}`);
  return [...head, '', ...stepLines(steps, wide, paint)].map((line) => `${line.trimEnd()}\n`).join('');
}

function stepLines(steps: readonly StepView[], wide: boolean, paint: Paint): string[] {
  const names = Math.max(0, ...steps.flatMap(({ nodes }) => shownOf(nodes, wide).map(({ node }) => printable(node).length)));
  return steps.flatMap((step, at) => {
    const isLast = at === steps.length - 1;
    const settled = step.nodes.filter(({ state }) => state === 'settled').length;
    const sign: Sign = step.state === 'done' ? { icon: '✔', tone: 'green' } : step.state === 'current' ? { icon: '◌', tone: 'cyan' } : { icon: '•', tone: 'dim' }; // prettier-ignore
    const count = step.nodes.length === 0 ? 'adds no nodes' : `${settled}/${step.nodes.length} settled`;
    const title = `${isLast ? '└' : '├'}─ ${paint[sign.tone](sign.icon)} step ${step.step}: ${step.text}   ${count}`;
    const shown = shownOf(step.nodes, wide);
    const lines = shown.map((node) => nodeLine(node, names, paint));
    const hidden = step.nodes.length - shown.length;
    if (hidden > 0) lines.push(`and ${hidden} more: ${countsText(step.nodes.filter((node) => !shown.includes(node)))}`);
    return [title, ...lines.map((line, index) => `${isLast ? ' ' : '│'}  ${index === lines.length - 1 ? '└' : '├'}─ ${line}`)];
  });
}

function nodeLine({ node, state, detail }: NodeView, width: number, paint: Paint): string {
  const { icon, tone } = states[state];
  const text = `${paint[tone](icon)} ${printable(node).padEnd(width)}   ${paint[tone](state)}`;
  return detail === '' ? text : `${text}   ${printable(detail)}`;
}

/** The nodes to list: failed and in-flight ones first. */
function shownOf(nodes: readonly NodeView[], wide: boolean): readonly NodeView[] {
  if (wide || nodes.length <= MAX_NODES) return nodes;
  const rank = ({ state }: NodeView): number => ['failed', 'in-flight', 'not-ready', 'no-agent', 'settled', 'waiting'].indexOf(state);
  return nodes.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_NODES);
}

/** `12 settled, 3 waiting`. */
function countsText(nodes: readonly NodeView[]): string {
  return [...Map.groupBy(nodes, ({ state }) => state)].map(([state, of]) => `${of.length} ${state}`).join(', ');
}
