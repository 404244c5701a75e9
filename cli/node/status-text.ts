import { ago, span } from './spoken.ts';
import { viewActive } from '../../agent/admin/active.ts';
import type { AdminFacts } from '../../agent/admin/facts.ts';
import { nextStep, standingOf, type ApiView, type Standing, type StatusView } from '../../agent/admin/status.ts';
import { sameSource, sourceText, type MaybeSource } from '../../agent/checkpoint/source.ts';
import type { MetaRecord } from '../../agent/store/store.ts';
import type { Millis } from '../../base/clock.ts';
import { printable } from '../printable.ts';
import type { Paint, People } from '../output.ts';

const standingText: Readonly<Record<Standing, string>> = {
  local: 'local config, nothing assigned',
  trusted: 'assigned config, trusted',
  trial: 'assigned config, on trial',
  running: 'assigned config, not yet trusted',
  refused: 'a new config is refused, the one before runs on',
  'not-synced': 'the assignment cannot be followed, what ran before runs on',
  troubled: 'it runs, but the agent failed at its work',
  condemned: 'fell back: the assigned config is condemned',
  'fallen-back': 'fell back: the assigned config cannot be used',
  changing: 'about to change',
  unknown: 'what is assigned is not known',
};

/** `dkc status` for people: what runs, since when, why not something else, what to do. */
export function statusText(status: StatusView, facts: AdminFacts, now: Millis, how: People): string {
  const { paint } = how;
  const active = viewActive(facts);
  const standing = standingOf(facts);
  const wide = how.wide;
  const lines: [string, string][] = [
    ['Node', paint.bold(printable(status.node))],
    ['State', paintOf(standing, paint)(standingText[standing])],
    ['Running', running(status.active, active.used, wide)],
    ['Since', since(active, now)],
    ['Assigned', recordText(facts.assigned, status.active, wide)],
    ['Last known good', recordText(facts.lastKnownGood, status.active, wide)],
    ['Error', status.error === null ? 'none' : paint.red(printable(status.error))],
    ...trialLine(status, now),
    ['Effective file', effectiveText(status, wide)],
    ['Assignment by', `${status.assignment.carrier ?? 'not known'} (${printable(status.assignment.why)})`],
  ];
  const blocks = [
    lines.map(([title, text]) => `${`${title}:`.padEnd(17)}${text}`).join('\n'),
    condemnedText(status, now, wide),
    problemsText(status, paint),
    apiText(status, wide),
    `Next: ${nextStep(facts)}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function paintOf(standing: Standing, paint: Paint): (text: string) => string {
  if (standing === 'local' || standing === 'trusted') return paint.green;
  return standing === 'trial' || standing === 'running' || standing === 'changing' ? paint.yellow : paint.red;
}

function running(source: MaybeSource, used: string, wide: boolean): string {
  return source === null ? 'local config' : `${name(source, wide)} (${used})`;
}

function since(active: ReturnType<typeof viewActive>, now: Millis): string {
  if (active.from === 'records') return 'not known: worked out from the records, the agent has not written it down';
  const at = `${printable(active.since ?? '')} (${ago(active.since, now)})`;
  return active.from === 'agent' ? at : `${at}; the effective file has changed since then, and not by the agent`;
}

function name(source: MaybeSource, wide: boolean): string {
  if (source === null) return 'local config';
  return printable(wide ? `${sourceText(source)}, uid ${source.uid}` : sourceText(source));
}

function recordText(record: MetaRecord, active: MaybeSource, wide: boolean): string {
  if (record.at === 'missing') return 'not known: its record is missing';
  if (record.at === 'damaged') return 'not known: its record is damaged';
  if (record.source !== null && sameSource(record.source, active)) return 'the same';
  return record.source === null ? 'none (local config)' : name(record.source, wide);
}

function trialLine({ trial }: StatusView, now: Millis): [string, string][] {
  if (!trial) return [];
  return [['Trial', `healthy for ${span(trial.healthyMs)} of ${span(trial.needMs)}, assigned ${ago(trial.assignedAt, now)}`]];
}

function effectiveText({ effective }: StatusView, wide: boolean): string {
  const sum = effective.sha256 === '' ? 'missing' : `sha256 ${wide ? effective.sha256 : effective.sha256.slice(0, 12)}`;
  return `${printable(effective.path)} (${sum})`;
}

function condemnedText({ condemned }: StatusView, now: Millis, wide: boolean): string {
  if (condemned.length === 0) return '';
  const lines = condemned.flatMap((record) => [
    `  ${name(record, wide)}: by ${record.by}, ${ago(record.at, now)}: ${printable(record.reason)}`,
    ...record.evidence.slice(0, wide ? undefined : 3).map((line) => `    ${printable(line)}`),
  ]);
  return ['Condemned:', ...lines].join('\n');
}

function problemsText({ problems }: StatusView, paint: Paint): string {
  if (problems.length === 0) return '';
  return [paint.red('Damaged:'), ...problems.map(({ path, problem }) => `  ${printable(path)}: ${printable(problem)}`)].join('\n');
}

function apiText(status: StatusView, wide: boolean): string {
  const { api } = status;
  if (api === undefined) return '';
  if (typeof api === 'string') return `API server: ${printable(api)}`;
  const rows = (['assigned', 'active', 'lastKnownGood'] as const).map(
    (part) => `  ${part}: ${sameSource(api[part], status[part]) ? 'as here' : name(api[part], wide)}`,
  );
  return ['API server says:', ...rows, `  error: ${errorText(api, status)}`].join('\n');
}

function errorText(api: ApiView, status: StatusView): string {
  if (api.error === status.error) return 'as here';
  return api.error === null ? 'none' : printable(api.error);
}
