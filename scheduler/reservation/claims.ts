import type { PodInfo } from '../pod/pod-info.ts';

/** Claims of its namespace that the pod's volumes are, also those that are made for the pod alone. */
export function claimsOf({ pod, name }: PodInfo): string[] {
  const claims: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim !== undefined) claims.push(volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral !== undefined) claims.push(`${name}-${volume.name}`);
  }
  return claims;
}
