import type { PodInfo } from '../pod/pod-info.ts';
import type { ClaimUser } from './contract.ts';
import { podVolumesOf } from './pod-volumes.ts';

const nobody: readonly ClaimUser[] = [];

/** Pods on nodes by the claims they use. */
export class ClaimUsers {
  readonly #byClaim = new Map<string, Map<string, ClaimUser>>();

  of(namespace: string, claim: string): readonly ClaimUser[] {
    const users = this.#byClaim.get(`${namespace}/${claim}`);
    return users === undefined ? nobody : [...users.values()];
  }

  add(pod: PodInfo, node: string): void {
    for (const { name } of podVolumesOf(pod).claims) {
      const key = `${pod.namespace}/${name}`;
      const users = this.#byClaim.get(key) ?? new Map<string, ClaimUser>();
      users.set(pod.uid, { pod, node });
      this.#byClaim.set(key, users);
    }
  }

  remove(pod: PodInfo): void {
    for (const { name } of podVolumesOf(pod).claims) {
      const key = `${pod.namespace}/${name}`;
      const users = this.#byClaim.get(key);
      if (users?.delete(pod.uid) === true && users.size === 0) this.#byClaim.delete(key);
    }
  }
}
