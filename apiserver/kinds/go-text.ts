import { isJsonObject } from '../../kube/api/json.ts';
import { fieldAt, listAt } from './metadata-rules.ts';

/*
 * Values as the API server's own language prints them: messages about whole structures show them so, and clients match on them.
 */

export function goText(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value : '');
}

export function goTextMap(value: unknown): string {
  if (!isJsonObject(value)) return 'map[string]string(nil)';
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]string{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${goText(one)}`).join(', ')}}`;
}

export function goTextList(value: unknown): string {
  return Array.isArray(value) ? `[]string{${value.map(goText).join(', ')}}` : '[]string(nil)';
}

export function goIntOrText(value: unknown): string {
  const text = typeof value === 'string';
  return `intstr.IntOrString{Type:${text ? 1 : 0}, IntVal:${text ? 0 : Number(value ?? 0)}, StrVal:${goText(value)}}`;
}

/** `metav1.LabelSelector`. */
export function goSelector(selector: unknown): string {
  if (!isJsonObject(selector)) return 'nil';
  const requirements = listAt(selector, 'matchExpressions').map(
    (one) =>
      `v1.LabelSelectorRequirement{Key:${goText(fieldAt(one, 'key'))}, Operator:${goText(fieldAt(one, 'operator'))}, Values:${goTextList(fieldAt(one, 'values'))}}`,
  );
  const list = requirements.length === 0 ? '(nil)' : `{${requirements.join(', ')}}`;
  return `v1.LabelSelector{MatchLabels:${goTextMap(fieldAt(selector, 'matchLabels'))}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`;
}
