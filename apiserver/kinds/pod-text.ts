import { isJsonObject } from '../../kube/api/json.ts';

/** `a=b,c=d`, or `<none>`: a map of labels as tables show it. */
export function nodeSelectorText(labels: unknown): string {
  const entries = Object.entries(isJsonObject(labels) ? labels : {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${String(value)}`).join(',');
}
