import { failed, ok, skipped, the, warning, type Check, type Known, type Seen, type Verdict } from '../check.ts';
import type { Millis } from '../../../base/clock.ts';

const DAY: Millis = 24 * 3600 * 1000;
/** Warn when a credential expires within this time: the regular renewal should have happened before. */
const SOON: Millis = 7 * DAY;
/** Kubelets renew their certificate, and agents their token, with at least a tenth of its lifetime left. */
const LAST_SHARE = 0.1;

/** A certificate or a token. */
export interface Credential {
  /** Path of its file, or of the kubeconfig that it is embedded in. */
  from: string;
  isEmbedded: boolean;
  notBefore: Millis;
  /** null: it never expires, or has no such date. */
  notAfter: Millis | null;
}

export interface CredentialFacts {
  /** Set on a node only. @default kubelet */
  kubeletUnit?: string;
  /** undefined: none is set. */
  kubeconfig: string | undefined;
  /** Why the kubeconfig is unusable; undefined: it is usable. */
  problem: Seen<string | undefined>;
  /** `none`: the kubeconfig has no client certificate. */
  certificate: Seen<
    (Credential & { /** undefined: certificate or key cannot be read. */ fitsKey: boolean | undefined }) | { problem: string } | 'none'
  >;
  token: Seen<Credential | { problem: string } | 'none'>;
  /** The certificate authority that verifies the API server; of several, the one that expires last. */
  authority: Seen<Credential | { problem: string } | 'none'>;
  now: Millis;
}

/** Texts that differ between a node and a user. */
export interface CredentialHints {
  /** Verdict if no kubeconfig is set. */
  missing: Verdict;
  /** Remedy for an unusable kubeconfig. */
  repair: string;
  renew: (kubeletUnit: string) => string;
  /** The certificate is renewed in a separate file, never in the kubeconfig. */
  isRenewedInFile: boolean;
}

export const nodeHints: CredentialHints = {
  missing: warning(
    'no kubeconfig is set: the agent receives no assignments',
    'set kubeconfig in /etc/dkc/agent.yaml; systemctl restart dkc-agent',
  ),
  repair: 'fix the kubeconfig; kubeadm join writes the one of a node',
  renew: (unit) =>
    `have the kubelet renew its certificate: systemctl restart ${unit}; journalctl -u ${unit}; a node that was off for too long must join the cluster again`,
  isRenewedInFile: true,
};

export const userHints: CredentialHints = {
  missing: skipped('no kubeconfig is set'),
  repair: 'fix the kubeconfig, or use another one with --kubeconfig',
  renew: () => 'ask an administrator of the cluster for new credentials: kubeadm certs renew admin.conf',
  isRenewedInFile: false,
};

export function credentialChecks(hints: CredentialHints): readonly Check<CredentialFacts>[] {
  return [
    {
      name: 'kubeconfig',
      wants: 'the kubeconfig can be read and names an API server',
      decide: ({ kubeconfig, problem }) => {
        const why = the(problem);
        if (why !== undefined) return failed(why, hints.repair);
        return kubeconfig === undefined ? hints.missing : ok(kubeconfig);
      },
    },
    {
      name: 'client-credentials',
      wants: 'client certificate and token are valid for at least a week',
      decide: (facts) => client(facts, hints),
    },
    { name: 'certificate-authority', wants: 'the certificate authority of the API server is valid', decide: authority },
  ];
}

function client({ certificate, token, now, kubeletUnit = 'kubelet' }: CredentialFacts, hints: CredentialHints): Verdict {
  const [cert, bearer] = [the(certificate), the(token)];
  if (cert === 'none' && bearer === 'none') return skipped('the kubeconfig has neither a client certificate nor a token of its own');
  const verdicts = [
    ...(cert === 'none' ? [] : [certificateOf(cert, now, hints.renew(kubeletUnit), hints)]),
    ...(bearer === 'none' ? [] : [tokenOf(bearer, now)]),
  ];
  return (
    verdicts.find(({ result }) => result === 'failed') ??
    verdicts.find(({ result }) => result === 'warning') ??
    ok(verdicts.map(({ detail }) => detail).join('; '))
  );
}

function certificateOf(
  cert: Exclude<Known<CredentialFacts['certificate']>, 'none'>,
  now: Millis,
  renew: string,
  { isRenewedInFile }: CredentialHints,
): Verdict {
  if ('problem' in cert) return failed(cert.problem, renew);
  if (cert.fitsKey === false) return failed(`the client key in ${cert.from} does not belong to the client certificate`, renew);
  const verdict = validity(`the client certificate in ${cert.from}`, cert, now, renew);
  if (verdict.result !== 'ok' || !cert.isEmbedded || !isRenewedInFile) return verdict;
  return warning(
    `${verdict.detail}, and is embedded in the kubeconfig, where the kubelet does not renew it`,
    `in ${cert.from}, set client-certificate and client-key to the file that the kubelet renews: /var/lib/kubelet/pki/kubelet-client-current.pem`,
  );
}

function tokenOf(bearer: Exclude<Known<CredentialFacts['token']>, 'none'>, now: Millis): Verdict {
  const remedy =
    'the agent renews a token only in a tokenFile below /var/lib/dkc; replace an invalid or expired one: kubectl -n dkc-system create token NODE';
  if ('problem' in bearer) return failed(bearer.problem, remedy);
  return validity(`the token in ${bearer.from}`, bearer, now, remedy);
}

function authority({ authority, now }: CredentialFacts): Verdict {
  const found = the(authority);
  const remedy = 'put the new certificate authority into the kubeconfig; kubeadm certs check-expiration lists those of the cluster';
  if (found === 'none') return skipped('the kubeconfig names no certificate authority');
  if ('problem' in found) return failed(found.problem, remedy);
  return validity(`the certificate authority in ${found.from}`, found, now, remedy);
}

/** Checks that a certificate or token is valid now, and long enough to be renewed in time. */
export function validity(
  what: string,
  { notBefore, notAfter }: Pick<Credential, 'notBefore' | 'notAfter'>,
  now: Millis,
  remedy: string,
): Verdict {
  if (notBefore > now)
    return failed(`${what} is not valid before ${day(notBefore)}: is the clock of this machine right?`, 'timedatectl set-ntp true');
  if (notAfter === null) return ok(`${what} has no expiry date`);
  const left = notAfter - now;
  if (left <= 0) return failed(`${what} expired on ${day(notAfter)}`, remedy);
  if (left < Math.min(SOON, (notAfter - notBefore) * LAST_SHARE))
    return warning(`${what} expires on ${day(notAfter)}, in ${span(left)}`, remedy);
  return ok(`${what} is valid until ${day(notAfter)}`);
}

const day = (ms: Millis): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
const span = (ms: Millis): string => (ms >= DAY ? `${Math.floor(ms / DAY)} days` : `${Math.max(1, Math.floor(ms / 60_000))} minutes`);
