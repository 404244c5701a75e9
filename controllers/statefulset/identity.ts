/** Both are on every pod of a set, so that a service can be had for one of them. */
export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
export const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export function podName(set: string, ordinal: number): string {
  return `${set}-${ordinal}`;
}

/** @param template - name of the claim template */
export function claimName(template: string, set: string, ordinal: number): string {
  return `${template}-${set}-${ordinal}`;
}
