/** What both sides of the test call things: the test outside of the machine, the scenario inside. */
export const NODE = 'node-0';
export const NAMESPACE = 'dkc-system';
export const KEY = 'kubelet';
export const KUBECONFIG = '/etc/dkc/kubeconfig';
export const KUBELET_KUBECONFIG = '/etc/kubernetes/kubelet.conf';
/** A registered kubelet takes no loopback address. */
export const NODE_IP = '10.200.0.1';
/** Socket of the fake container runtime. */
export const CRI = '/run/fake-runtime/cri.sock';
