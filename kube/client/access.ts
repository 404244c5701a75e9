import type { JsonObject } from '../api/json.ts';

/** PEM text, or where to read it. A file is read again when it changes. */
export type Material = { data: string } | { file: string };

/** How to reach one API server as one identity: what a kubeconfig's context, or a pod's service account, comes down to. */
export interface ClusterAccess {
  /** Where this was read, for messages: a path, or `the pod's service account`. */
  origin: string;
  /** `https://host:port`, perhaps with a path in front of the API's. */
  server: string;
  /** `http://` or `https://` URL of the proxy to go through, perhaps with user and password. @default a direct way */
  proxy?: string;
  /** Authorities to trust instead of the system's. */
  ca?: Material;
  /** Takes any certificate. Only for tests on one's own machine. */
  insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate, when it is not the host. */
  tlsServerName?: string;
  /** Goes before `token`, as with kubectl. */
  tokenFile?: string;
  token?: string;
  basic?: { username: string; password: string };
  clientCertificate?: Material;
  clientKey?: Material;
  impersonate?: { user: string; groups: readonly string[]; uid?: string };
  /** The user has `exec` or the `auth-provider` oidc. */
  plugin?: Plugin;
  /** The context's namespace. */
  namespace?: string;
}

/** What `KUBERNETES_EXEC_INFO` holds in the environment of an exec program; the cluster's authorities are added when it runs, as they may be in a file. */
export interface ExecInfo {
  kind: 'ExecCredential';
  apiVersion: unknown;
  /** `cluster` only where the user has `provideClusterInfo`. */
  spec: { interactive: boolean; cluster?: JsonObject };
}

/** A user whose credentials come from a program or from an OIDC provider. The same object as long as the kubeconfig does not change. */
export type Plugin = {
  /** For messages. */
  kubeconfig: string;
  context: string;
  user: string;
} & ({ /** The user's `exec`. */ exec: JsonObject; execInfo: ExecInfo } | { /** The `config` of its `auth-provider`. */ oidc: JsonObject });

/**
 * A {@link ClusterAccess} that may change while we run. `current` is asked before requests and answers from memory while nothing changed.
 * @throws {ActionError} when it cannot be read, at first; later the last good one stays in force
 */
export interface AccessSource {
  current(): Promise<ClusterAccess>;
}
