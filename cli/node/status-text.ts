import { ago, span } from './spoken.ts';
import { type ActiveView, type AdminFacts, viewActive } from '../../agent/admin/facts.ts';
import {
  isStoreInaccessible,
  agentStateOf,
  type ApiView,
  type AgentState,
  type StatusView,
  type Vitals,
} from '../../agent/admin/status.ts';
import { sameSource, sourceText, type MaybeSource } from '../../agent/checkpoint/source.ts';
import type { MetaRecord } from '../../agent/store/store.ts';
import type { Millis } from '../../base/clock.ts';
import { printable } from '../output/printable.ts';
import type { Paint, People } from '../output/output.ts';

const stateText: Readonly<Record<AgentState, string>> = {
  local: 'local config, nothing assigned',
  trusted: 'assigned config, trusted',
  trial: 'assigned config, on trial',
  running: 'assigned config, not yet trusted',
  refused: 'new config rejected, still running the previous config',
  barred: 'assigned config is condemned on this node, running another one',
  'not-synced': 'sync failed, still running the previous config',
  troubled: 'running, agent error',
  condemned: 'fell back: the assigned config is condemned',
  'fallen-back': 'fell back: the assigned config cannot be used',
  pending: 'pending: waiting for the agent',
  unknown: 'unknown assignment (record damaged)',
};

/** Maximum number of lines of a list; `-o wide` shows all. */
const MAX_SHOWN = 10;
const MAX_EVIDENCE = 3;

/** `dkc status` for people: what runs, since when, why not something else, what to do. */
export function statusText(status: StatusView, facts: AdminFacts, vitals: Vitals, now: Millis, how: People): string {
  const { paint } = how;
  const active = viewActive(facts);
  const state = agentStateOf(facts);
  const wide = how.wide;
  const lines: [string, string][] = [
    ['Node', paint.bold(printable(status.node))],
    ['State', paintOf(state, paint)(stateText[state])],
    ...(isStoreInaccessible(facts) && active.from === 'changed' ? outdated : runningLines(status, active, now, wide)),
    ...signedLine(status, paint),
    ['Assigned', recordText(facts.assigned, status.active, wide)],
    ['Last known good', recordText(facts.lastKnownGood, status.active, wide)],
    ['Error', status.error === null ? 'none' : paint.red(printable(forPeople(status.error)))],
    ...trialLine(status, now),
    ['Agent', agentText(vitals.agent, paint)],
    ['Kubelet', kubeletText(vitals.kubelet, paint)],
    ['Effective file', effectiveText(status, wide)],
    ...localLine(status, paint),
    ['Assignment by', `${status.assignment.carrier ?? 'unknown'} (${printable(status.assignment.why)})`],
  ];
  const blocks = [
    lines.map(([title, text]) => `${`${title}:`.padEnd(17)}${text}`).join('\n'),
    refusedText(status, now, how),
    condemnedText(status, now, wide),
    problemsText(facts, how),
    driftText(status, now, paint),
    noticesText(status, paint),
    apiText(status, wide),
    `Next: ${status.next}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function paintOf(state: AgentState, paint: Paint): (text: string) => string {
  if (state === 'local' || state === 'trusted') return paint.green;
  return state === 'trial' || state === 'running' || state === 'pending' ? paint.yellow : paint.red;
}

/** Upstream's error texts refer to the kubelet's log; the details are in the agent's log. */
export function forPeople(error: string): string {
  return error.replace(/, see (Kubelet|dkc-agent) log for details$/, ' (see: journalctl -u dkc-agent)');
}

function agentText({ alive, detail }: Vitals['agent'], paint: Paint): string {
  if (alive === null) return `unknown (${printable(detail)})`;
  return alive ? 'running' : paint.red('not running: systemctl status dkc-agent');
}

function kubeletText({ healthy, detail }: Vitals['kubelet'], paint: Paint): string {
  if (healthy === null) return printable(detail);
  return healthy ? 'healthy' : paint.red(`not healthy: ${printable(detail)}`);
}

/** The effective file has changed since, and the agent could not record the new one. */
const outdated: [string, string][] = [['Running', 'unknown: the agent cannot record what it uses']];

function runningLines({ active: source }: StatusView, active: ActiveView, now: Millis, wide: boolean): [string, string][] {
  return [
    ['Running', running(source, active.used, wide)],
    ['Since', since(active, now)],
  ];
}

function running(source: MaybeSource, used: string, wide: boolean): string {
  return source === null ? 'local config' : `${name(source, wide)} (${used})`;
}

function signedLine({ signedBy, active }: StatusView, paint: Paint): [string, string][] {
  if (signedBy === undefined || active === null) return [];
  return [['Signed by', signedBy === null ? paint.red('none of the signatureKeys in the field policy') : printable(signedBy)]];
}

function since(active: ReturnType<typeof viewActive>, now: Millis): string {
  if (active.from === 'records') return 'unknown (derived from records)';
  const at = `${printable(active.since ?? '')} (${ago(active.since, now)})`;
  return active.from === 'agent' ? at : `${at}; the effective file was modified outside dkc`;
}

function name(source: MaybeSource, wide: boolean): string {
  if (source === null) return 'local config';
  return printable(wide ? `${sourceText(source)}, uid ${source.uid}` : sourceText(source));
}

function recordText(record: MetaRecord, active: MaybeSource, wide: boolean): string {
  if (record.at === 'missing') return 'unknown: its record is missing';
  if (record.at === 'damaged') return 'unknown: its record is damaged';
  if (record.source !== null && sameSource(record.source, active)) return 'same as running';
  return record.source === null ? 'none (local config)' : name(record.source, wide);
}

function trialLine({ trial }: StatusView, now: Millis): [string, string][] {
  if (!trial) return [];
  return [['Trial', `healthy for ${span(trial.healthyMs)} of ${span(trial.needMs)}, assigned ${ago(trial.assignedAt, now)}`]];
}

function localLine({ localConfig }: StatusView, paint: Paint): [string, string][] {
  if (localConfig.at === 'present') return [];
  const what = localConfig.at === 'missing' ? 'missing: there is no last fallback' : printable(localConfig.problem);
  return [['Local config', paint.red(`${printable(localConfig.path)}: ${what}`)]];
}

function effectiveText({ effective }: StatusView, wide: boolean): string {
  const sum = effective.sha256 === '' ? 'missing' : `sha256 ${wide ? effective.sha256 : effective.sha256.slice(0, 12)}`;
  return `${printable(effective.path)} (${sum})`;
}

function refusedText({ refused }: StatusView, now: Millis, { wide, paint }: People): string {
  if (!refused) return '';
  const { findings, more } = refused;
  const shown = findings.slice(0, wide ? undefined : MAX_SHOWN);
  const hidden = findings.length - shown.length + more;
  return [
    paint.red('Refused:'),
    `  ${name(refused.source, wide)}: ${ago(refused.at, now)}: ${printable(forPeople(refused.error))}`,
    ...shown.map(({ field, rule, message }) => `    ${printable(findingText(field, message))} [${printable(rule)}]`),
    ...moreLine(hidden, '    ', wide),
  ].join('\n');
}

const findingText = (field: string, message: string): string =>
  field === '' || message.startsWith(field) ? message : `${field}: ${message}`;

/** Newest first, since these matter most; the file has the oldest first. */
function condemnedText({ condemned }: StatusView, now: Millis, wide: boolean): string {
  if (condemned.length === 0) return '';
  const shown = wide ? condemned : condemned.slice(-MAX_SHOWN);
  const lines = shown.flatMap((record) => [
    `  ${name(record, wide)}: by ${record.by}, ${ago(record.at, now)}: ${printable(record.reason)}`,
    ...record.evidence.slice(0, wide ? undefined : MAX_EVIDENCE).map((line) => `    ${printable(line)}`),
  ]);
  return ['Condemned:', ...moreLine(condemned.length - shown.length, '  ', wide, 'older'), ...lines].join('\n');
}

function problemsText({ problems }: Pick<AdminFacts, 'problems'>, { wide, paint }: People): string {
  if (problems.length === 0) return '';
  const block = (title: string, all: AdminFacts['problems']): string[] => {
    const shown = wide ? all : all.slice(0, MAX_SHOWN);
    const lines = shown.map(({ path, problem }) => `  ${printable(path)}: ${printable(problem)}`);
    return all.length === 0 ? [] : [paint.red(title), ...lines, ...moreLine(all.length - shown.length, '  ', wide)];
  };
  const inaccessible = problems.filter(({ isInaccessible }) => isInaccessible === true);
  const damaged = problems.filter(({ isInaccessible }) => isInaccessible !== true);
  return [...block('Damaged:', damaged), ...block('Inaccessible to the agent:', inaccessible)].join('\n');
}

function driftText({ drift }: StatusView, now: Millis, paint: Paint): string {
  if (drift.length === 0) return '';
  const lines = drift.map(({ kind, detail, since }) => `  ${kind}${since === null ? '' : `, ${ago(since, now)}`}: ${printable(detail)}`);
  return [paint.red('Drifted:'), ...lines].join('\n');
}

function noticesText({ notices }: StatusView, paint: Paint): string {
  if (notices.length === 0) return '';
  return [paint.yellow('Notices:'), ...notices.map(({ text }) => `  ${printable(text)}`)].join('\n');
}

function moreLine(hidden: number, indent: string, wide: boolean, what = 'more'): string[] {
  return hidden > 0 ? [`${indent}and ${hidden} ${what}${wide ? '' : ': dkc status -o wide'}`] : [];
}

function apiText(status: StatusView, wide: boolean): string {
  const { api } = status;
  if (api === undefined) return '';
  if (typeof api === 'string') return `API server: ${printable(api)}`;
  const rows = (['assigned', 'active', 'lastKnownGood'] as const).map(
    (part) => `  ${part}: ${sameSource(api[part], status[part]) ? 'same' : name(api[part], wide)}`,
  );
  return ['Reported by the API server:', ...rows, `  error: ${errorText(api, status)}`].join('\n');
}

function errorText(api: ApiView, status: StatusView): string {
  if (api.error === status.error) return 'same';
  return api.error === null ? 'none' : printable(forPeople(api.error));
}
