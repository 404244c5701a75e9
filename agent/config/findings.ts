import type { Finding } from './contract.ts';

/** Findings that are named; the rest is counted. */
export const MAX_FINDINGS = 100;
/** Letters of a field's path that a finding shows, and that a policy can name. The longest path of the table has 52. */
export const MAX_NAME = 500;

/** A field's path for messages: cut, so that a key of a megabyte does not fill the log. */
export function shownName(field: string): string {
  return field.length > MAX_NAME ? `${field.slice(0, MAX_NAME)}…` : field;
}

/** The findings on the first {@link MAX_FINDINGS} items; only those are worded. One more finding counts the rest. */
export function firstFindings<T>(items: readonly T[], word: (item: T) => Finding): Finding[] {
  const named = items.slice(0, MAX_FINDINGS).map((item) => word(item));
  return items.length > MAX_FINDINGS ? [...named, andMore(items.length - MAX_FINDINGS)] : named;
}

/** The first {@link MAX_FINDINGS} of several lists together; the rest is counted, with what those lists have counted already. */
export function cappedFindings(...lists: readonly (readonly Finding[])[]): Finding[] {
  const named: Finding[] = [];
  let more = 0;
  for (const finding of lists.flat()) {
    if (finding.more !== undefined) more += finding.more;
    else if (named.length < MAX_FINDINGS) named.push(shown(finding));
    else more++;
  }
  if (more > 0) named.push(andMore(more));
  return named;
}

/** A list as {@link cappedFindings} makes it, taken apart: what is named, and how many more there are. */
export function splitFindings(findings: readonly Finding[]): { named: readonly Finding[]; more: number } {
  const more = findings.at(-1)?.more;
  return more === undefined ? { named: findings, more: 0 } : { named: findings.slice(0, -1), more };
}

function shown(finding: Finding): Finding {
  const { field, message } = finding;
  if (field.length <= MAX_NAME) return finding;
  return {
    ...finding,
    field: shownName(field),
    message: message.startsWith(field) ? `${shownName(field)}${message.slice(field.length)}` : message,
  };
}

/** Ends a list of which only the first part is named. */
export function andMore(more: number): Finding {
  return { field: '', rule: 'more', message: `and ${more} more`, more };
}
