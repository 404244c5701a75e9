import type { ClusterAccess } from './access.ts';

/**
 * The way to a kubelet's own port, as the identity that this access has at the API server. A client certificate gives nothing away, and kubelets
 * sign their serving certificates themselves unless they are told otherwise: with one the kubelet is not verified. Any other credential is a
 * secret, and is sent only to a kubelet whose serving certificate the cluster's authority signed for this node.
 * @param url - of the kubelet: `https://127.0.0.1:10250/configz`
 */
export function kubeletAccess(access: ClusterAccess, url: string, nodeName: string): ClusterAccess {
  const { proxy: _proxy, tlsServerName: _name, insecureSkipTlsVerify: _skip, ...rest } = access;
  const to = { ...rest, server: new URL(url).origin };
  const hasSecret = [access.token, access.tokenFile, access.basic, access.plugin].some((one) => one !== undefined);
  if (access.clientCertificate && !hasSecret) return { ...to, insecureSkipTlsVerify: true };
  return { ...to, tlsServerName: nodeName };
}
