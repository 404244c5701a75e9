const template = (image: string): string => `
  selector: {matchLabels: {app: ${image}}}
  template:
    metadata: {labels: {app: ${image}}}
    spec:
      containers:
      - {name: ${image}, image: "example/${image}:1"}
`;

/** Files of what the commands below name. */
export const workloadManifests: Readonly<Record<string, string>> = {
  'daemonset.yaml': `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:${template('agent')}`,
  'statefulset.yaml': `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: db
  replicas: 2${template('db')}`,
  'daemonset-bad.yaml': `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: other}}
  updateStrategy: {type: Sometimes}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "example/agent:1"}]}
`,
  'crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              colour: {type: string, default: grey, enum: [grey, red]}
          status: {type: object, properties: {phase: {type: string}}}
`,
  'widget.yaml': `apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: shop}
spec: {size: 3, unknown: dropped}
status: {phase: dropped}
`,
  'widget-bad.yaml': `apiVersion: example.com/v1
kind: Widget
metadata: {name: two, namespace: shop}
spec: {size: 0, colour: blue}
`,
};

const each = (kind: string, name: string, more: readonly string[]): string[] => [
  `create -f ${kind}.yaml`,
  `get ${kind}s -n shop`,
  `get ${kind}s -n shop -o wide`,
  `get ${kind} ${name} -n shop -o yaml`,
  `describe ${kind} ${name} -n shop`,
  `rollout status ${kind}/${name} -n shop --watch=false`,
  `set image ${kind}/${name} -n shop ${name}=example/${name}:2`,
  `patch ${kind} ${name} -n shop -p {"spec":{"selector":{"matchLabels":{"app":"changed"}}}}`,
  `get ${kind} ${name} -n shop -o jsonpath={.metadata.generation}`,
  ...more,
  `delete ${kind} ${name} -n shop`,
];

/** What kubectl is told of workloads, budgets, roles and custom resources; nobody reconciles them. */
export const workloadCommands: readonly string[] = [
  'create -f daemonset-bad.yaml',
  ...each('daemonset', 'agent', ['rollout history daemonset/agent -n shop', 'rollout restart daemonset/none -n shop']),
  ...each('statefulset', 'db', ['scale statefulset/db -n shop --replicas=3', 'get statefulset db -n shop -o jsonpath={.spec.replicas}']),
  'create poddisruptionbudget web -n shop --selector=app=web --min-available=1',
  'get poddisruptionbudgets -n shop',
  'describe poddisruptionbudget web -n shop',
  'create priorityclass high --value=1000',
  'get priorityclass high',
  'create priorityclass low --value=-10',
  'get priorityclass low -o jsonpath={.value}',
  'create service nodeport web -n shop --tcp=80:8080 --node-port=30080',
  'create service externalname far -n shop --external-name=example.com',
  'get service web -n shop -o jsonpath={.spec.type}{.spec.selector}{.spec.ports}',
  'create poddisruptionbudget half -n shop --selector=app=web --max-unavailable=50%',
  'get poddisruptionbudgets -n shop',
  'create role reader -n shop --verb=get,list --resource=pods',
  'get role reader -n shop -o yaml',
  'create rolebinding readers -n shop --role=reader --user=jane',
  'get rolebindings -n shop -o wide',
  'create -f crd.yaml',
  'wait --for=condition=Established crd/widgets.example.com --timeout=120s',
  'get crd widgets.example.com -o jsonpath={.status.acceptedNames}',
  'create -f widget.yaml --validate=false',
  'create -f widget-bad.yaml --validate=false',
  'get widgets -n shop',
  'get wd one -n shop -o yaml',
  'patch widget one -n shop --type=merge -p {"spec":{"colour":"red"}}',
  'patch widget one -n shop --type=merge -p {"spec":{"size":"big"}}',
  'patch widget one -n shop -p {"spec":{"size":4}}',
  'delete crd widgets.example.com',
  'get widgets -n shop -o name',
];
