/**
 * Ports that programs of Kubernetes listen on. The agent starts before the kubelet, and with it before every static pod: on one of these it
 * would keep a control plane from coming up after a reboot.
 */
const KUBERNETES_PORTS: ReadonlyMap<number, string> = new Map([
  [10248, 'the kubelet (health)'],
  [10249, 'kube-proxy (metrics)'],
  [10250, 'the kubelet'],
  [10251, 'kube-scheduler (up to 1.22)'],
  [10252, 'kube-controller-manager (up to 1.22)'],
  [10255, 'the kubelet (read-only)'],
  [10256, 'kube-proxy (health)'],
  [10257, 'kube-controller-manager'],
  [10258, 'cloud-controller-manager'],
  [10259, 'kube-scheduler'],
]);

/** The program that `port` belongs to; undefined for a port that the agent may use. */
export function ownerOfPort(port: number): string | undefined {
  return KUBERNETES_PORTS.get(port);
}
