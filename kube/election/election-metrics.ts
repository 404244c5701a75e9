/** What an election reports. Cheap, and never throws. */
export interface ElectionMetrics {
  /** @param name - of the lease */
  leading(name: string, isLeading: boolean): void;
  /** A renewal was refused and had to look at the lease first. */
  slowRenewal(name: string): void;
}

export const noElectionMetrics: ElectionMetrics = { leading() {}, slowRenewal() {} };
