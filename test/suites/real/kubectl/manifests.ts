import { workloadManifests } from './workloads.ts';

/** Files that the commands name. */
export const manifests: Readonly<Record<string, string>> = {
  ...workloadManifests,
  'node.yaml': `apiVersion: v1
kind: Node
metadata:
  name: node-0
  labels: {node-role.kubernetes.io/worker: "", zone: a}
spec:
  podCIDR: 10.1.0.0/24
`,
  'node-status.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-0', labels: { 'node-role.kubernetes.io/worker': '', zone: 'a' } },
    status: {
      capacity: { cpu: '4', memory: '8Gi', pods: '110' },
      allocatable: { cpu: '3500m', memory: '7Gi', pods: '110' },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
          lastHeartbeatTime: '2026-01-01T00:00:00Z',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
      addresses: [
        { type: 'InternalIP', address: '10.0.0.7' },
        { type: 'Hostname', address: 'node-0' },
      ],
      nodeInfo: {
        architecture: 'amd64',
        bootID: 'boot',
        containerRuntimeVersion: 'containerd://1.6.20',
        kernelVersion: '6.1.0',
        kubeProxyVersion: 'v1.20.2',
        kubeletVersion: 'v1.20.2',
        machineID: 'machine',
        operatingSystem: 'linux',
        osImage: 'Debian GNU/Linux 12 (bookworm)',
        systemUUID: 'system',
      },
      config: {
        assigned: { configMap: { namespace: 'shop', name: 'kubelet', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '7' } },
        error: 'failed to load config, see Kubelet log for details',
      },
    },
  }),
  'cm.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: applied, namespace: shop, labels: {app: web}}
data: {a: one, b: two}
`,
  'cm-changed.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: applied, namespace: shop, labels: {app: web}}
data: {a: three}
`,
  'cm-unknown-field.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: applied, namespace: shop}
datum: {a: x}
`,
  'cm-wrong-type.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: applied, namespace: shop}
data: {a: 7}
`,
  'cm-bad-name.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: Bad_Name, namespace: shop}
`,
  'cm-bad-keys.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: bad-keys, namespace: shop, labels: {"-x": "y z"}}
data: {"a/b": x, "..": z}
`,
  'cm-ssa.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: ssa, namespace: shop}
data: {a: x}
`,
  'cm-ssa-other.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: ssa, namespace: shop}
data: {a: z}
`,
  'cm-immutable.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: fixed, namespace: shop}
immutable: true
data: {a: x}
`,
  'many.yaml': ['one', 'two', 'three']
    .map(
      (name, n) => `apiVersion: v1
kind: ConfigMap
metadata: {name: many-${name}, namespace: shop, labels: {group: many, n: "${n}"}}
data: {n: "${n}"}
`,
    )
    .join('---\n'),
  'pod.yaml': `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  schedulerName: nobody
  automountServiceAccountToken: false
  containers:
  - name: web
    image: example/web:1
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
    ports: [{containerPort: 80}]
`,
  'pod-bad.yaml': `apiVersion: v1
kind: Pod
metadata: {name: bad, namespace: shop}
spec: {containers: []}
`,
  'binding.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'web', namespace: 'shop' },
    target: { apiVersion: 'v1', kind: 'Node', name: 'node-0' },
  }),
  'event.yaml': `apiVersion: v1
kind: Event
metadata: {name: web.1, namespace: shop}
involvedObject: {apiVersion: v1, kind: Pod, name: web, namespace: shop}
reason: Pulled
message: Container image is here
type: Normal
count: 3
firstTimestamp: 2026-01-01T00:00:00Z
lastTimestamp: 2026-01-01T00:00:00Z
source: {component: kubelet, host: node-0}
`,
  'lease.yaml': `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: lock, namespace: shop}
spec: {holderIdentity: me, leaseDurationSeconds: 15}
`,
  editor: '#!/bin/sh\nsed -i "s/three/four/" "$1"\n',
};
