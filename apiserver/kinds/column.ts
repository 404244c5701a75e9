import type { KubeObject } from '../../kube/api/object.ts';

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  /** @default 'string' */
  type?: 'string' | 'integer' | 'boolean' | 'date';
  /** `name` marks the column that holds the name. */
  format?: string;
  description: string;
  /** Shown with -o wide only. @default false */
  wide?: boolean;
  /** First release 1.N that has it. @default all */
  since?: number;
  /** Last release 1.N that has it. @default all */
  until?: number;
  /** @param now - ms since 1970 */
  cell(object: KubeObject, now: number): string | number | boolean;
}

/** Those of a server of release 1.`release`. */
export const columnsOf = (columns: readonly Column[], release: number): Column[] =>
  columns.filter(({ since = 0, until = Infinity }) => release >= since && release <= until);

export const nameColumn: Column = {
  name: 'Name',
  format: 'name',
  description: 'Name of the object, unique among its kind within a namespace.',
  cell: (object) => object.metadata.name ?? '',
};

export const ageColumn: Column = {
  name: 'Age',
  description: 'Time since the object was created.',
  cell: (object, now) => age(object.metadata.creationTimestamp, now),
};

/** How long ago a time was, as kubectl writes it. */
export function age(time: string | null | undefined, now: number): string {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at);
}

/** `42s`, `3m20s`, `5h10m`, `2d4h`, `90d`, `2y30d`: short, at most two units, the second only while it matters. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const years = Math.floor(days / 365);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return two(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  if (days < 365 * 8) return two(years, 'y', days % 365, 'd');
  return `${years}y`;
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
