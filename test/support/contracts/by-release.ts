/** The server that a contract is about. */
export interface ServerRelease {
  /** 36 of 1.36. */
  minor: number;
  /** Nodes have `spec.configSource` and `status.config`: up to 1.25, with the gate DynamicKubeletConfig on. */
  dynamicKubeletConfig: boolean;
}

/**
 * What servers of 1.20 and of today do otherwise: `then` is what 1.20.2 does, `today` what 1.36.3 does. Which release between them began is not
 * looked at.
 */
export const byRelease = <T>({ minor }: ServerRelease, then: T, today: T = then): T => (minor >= 34 ? today : then);
