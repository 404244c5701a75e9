import { parseTypes, ref, type Schema } from '../../openapi/schema.ts';
import { podTypes } from './pod-types.ts';
import { storageTypes, volumeTypes } from './storage-types.ts';

/** Types of workloads, revisions, scale and disruption budgets. Notation: openapi/schema.ts. */
const workloadTypes = `
apps.v1.DaemonSet
  spec+ DaemonSetSpec; status+ DaemonSetStatus
apps.v1.StatefulSet
  spec+ StatefulSetSpec; status+ StatefulSetStatus
apps.v1.ReplicaSet
  spec+ ReplicaSetSpec; status+ ReplicaSetStatus
apps.v1.ControllerRevision
  data any; revision! int64
core.v1.ReplicationController
  spec+ ReplicationControllerSpec; status+ ReplicationControllerStatus
policy.v1beta1.PodDisruptionBudget
  spec+ PodDisruptionBudgetSpec; status+ PodDisruptionBudgetStatus
autoscaling.v1.Scale
  spec+ ScaleSpec; status+ ScaleStatus
apps.v1.DaemonSetSpec
  selector!* LabelSelector; template! PodTemplateSpec; updateStrategy+ DaemonSetUpdateStrategy; minReadySeconds int32;
  revisionHistoryLimit* int32
apps.v1.DaemonSetStatus
  currentNumberScheduled! int32; numberMisscheduled! int32; desiredNumberScheduled! int32; numberReady! int32; observedGeneration int64;
  updatedNumberScheduled int32; numberAvailable int32; numberUnavailable int32; collisionCount* int32;
  conditions [DaemonSetCondition] by type
apps.v1.StatefulSetSpec
  replicas* int32; selector!* LabelSelector; template! PodTemplateSpec; volumeClaimTemplates [PersistentVolumeClaim]; serviceName! text;
  podManagementPolicy text; updateStrategy+ StatefulSetUpdateStrategy; revisionHistoryLimit* int32; minReadySeconds int32 @23;
  persistentVolumeClaimRetentionPolicy* StatefulSetPersistentVolumeClaimRetentionPolicy @27; ordinals* StatefulSetOrdinals @27
apps.v1.StatefulSetStatus
  observedGeneration int64; replicas! int32; readyReplicas int32; currentReplicas int32; updatedReplicas int32; currentRevision text;
  updateRevision text; collisionCount* int32; conditions [StatefulSetCondition] by type; availableReplicas! int32 @22
apps.v1.ReplicaSetSpec
  replicas* int32; minReadySeconds int32; selector!* LabelSelector; template+ PodTemplateSpec
apps.v1.ReplicaSetStatus
  replicas! int32; fullyLabeledReplicas int32; readyReplicas int32; availableReplicas int32; observedGeneration int64;
  conditions [ReplicaSetCondition] by type; terminatingReplicas* int32 @35
core.v1.ReplicationControllerSpec
  replicas* int32; minReadySeconds int32; selector {text}; template* PodTemplateSpec
core.v1.ReplicationControllerStatus
  replicas! int32; fullyLabeledReplicas int32; readyReplicas int32; availableReplicas int32; observedGeneration int64;
  conditions [ReplicationControllerCondition] by type
policy.v1beta1.PodDisruptionBudgetSpec
  minAvailable* intOrText; selector* LabelSelector; maxUnavailable* intOrText; unhealthyPodEvictionPolicy* text @27
policy.v1beta1.PodDisruptionBudgetStatus
  observedGeneration int64; disruptedPods {time}; disruptionsAllowed! int32; currentHealthy! int32; desiredHealthy! int32;
  expectedPods! int32; conditions [Condition] by type @22
autoscaling.v1.ScaleSpec
  replicas int32
autoscaling.v1.ScaleStatus
  replicas! int32; selector text
apps.v1.DaemonSetUpdateStrategy
  type text; rollingUpdate* RollingUpdateDaemonSet
apps.v1.DaemonSetCondition
  type! text; status! text; lastTransitionTime+ time; reason text; message text
apps.v1.StatefulSetUpdateStrategy
  type text; rollingUpdate* RollingUpdateStatefulSetStrategy
apps.v1.StatefulSetCondition
  type! text; status! text; lastTransitionTime+ time; reason text; message text
apps.v1.ReplicaSetCondition
  type! text; status! text; lastTransitionTime+ time; reason text; message text
core.v1.ReplicationControllerCondition
  type! text; status! text; lastTransitionTime+ time; reason text; message text
apps.v1.RollingUpdateDaemonSet
  maxUnavailable* intOrText; maxSurge* intOrText @22
apps.v1.RollingUpdateStatefulSetStrategy
  partition* int32; maxUnavailable* intOrText @35
apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy
  whenDeleted text; whenScaled text
apps.v1.StatefulSetOrdinals
  start! int32
`;

/** Types of services, roles and other kinds. Notation: openapi/schema.ts. */
const clusterTypes = `
core.v1.Service
  spec+ ServiceSpec; status+ ServiceStatus
scheduling.v1.PriorityClass
  value! int32; globalDefault flag; description text; preemptionPolicy* text
rbac.v1.Role
  rules+ [PolicyRule]
rbac.v1.RoleBinding
  subjects [Subject]; roleRef! RoleRef
rbac.v1.ClusterRole
  rules+ [PolicyRule]; aggregationRule* AggregationRule
rbac.v1.ClusterRoleBinding
  subjects [Subject]; roleRef! RoleRef
authorization.v1.SelfSubjectAccessReview
  spec! SelfSubjectAccessReviewSpec; status+ SubjectAccessReviewStatus
authorization.v1.SelfSubjectRulesReview
  spec! SelfSubjectRulesReviewSpec; status+ SubjectRulesReviewStatus
core.v1.Binding
  target! ObjectReference
core.v1.ServiceSpec
  ports [ServicePort] by port; selector {text}; clusterIP text; clusterIPs [text]; type text; externalIPs [text]; sessionAffinity text;
  loadBalancerIP text; loadBalancerSourceRanges [text]; externalName text; externalTrafficPolicy text; healthCheckNodePort int32;
  publishNotReadyAddresses flag; sessionAffinityConfig* SessionAffinityConfig; ipFamilies [text] @21;
  ipFamilyPolicy* text @21; allocateLoadBalancerNodePorts* flag @22; internalTrafficPolicy* text @22; loadBalancerClass* text @22;
  trafficDistribution* text @31
core.v1.ServiceStatus
  loadBalancer+ LoadBalancerStatus; conditions [Condition] by type
rbac.v1.PolicyRule
  verbs! [text]; apiGroups [text]; resources [text]; resourceNames [text]; nonResourceURLs [text]
rbac.v1.Subject
  kind! text; apiGroup text; name! text; namespace text
rbac.v1.RoleRef
  apiGroup! text; kind! text; name! text
rbac.v1.AggregationRule
  clusterRoleSelectors [LabelSelector]
authorization.v1.SelfSubjectAccessReviewSpec
  resourceAttributes* ResourceAttributes; nonResourceAttributes* NonResourceAttributes
authorization.v1.SubjectAccessReviewStatus
  allowed! flag; denied flag; reason text; evaluationError text
authorization.v1.SelfSubjectRulesReviewSpec
  namespace text
authorization.v1.SubjectRulesReviewStatus
  resourceRules! [ResourceRule]; nonResourceRules! [NonResourceRule]; incomplete! flag; evaluationError text
core.v1.ServicePort
  name text; protocol text; appProtocol* text; port! int32; targetPort+ intOrText; nodePort int32
core.v1.LoadBalancerStatus
  ingress [LoadBalancerIngress]
authorization.v1.ResourceAttributes
  namespace text; verb text; group text; version text; resource text; subresource text; name text
authorization.v1.NonResourceAttributes
  path text; verb text
authorization.v1.ResourceRule
  verbs! [text]; apiGroups [text]; resources [text]; resourceNames [text]
authorization.v1.NonResourceRule
  verbs! [text]; nonResourceURLs [text]
core.v1.ClientIPConfig
  timeoutSeconds* int32
core.v1.LoadBalancerIngress
  ip text; hostname text; ports [PortStatus]; ipMode* text @30
core.v1.PortStatus
  port! int32; protocol! text; error* text
`;

/** Types of metadata and selectors inside other objects. Notation: openapi/schema.ts. */
const metaTypes = `
meta.v1.LabelSelector
  matchLabels {text}; matchExpressions [LabelSelectorRequirement]
meta.v1.Condition
  type! text; status! text; observedGeneration int64; lastTransitionTime! time; reason! text; message! text
meta.v1.LabelSelectorRequirement
  key! text; operator! text; values [text]
meta.v1.ObjectMeta
  name text; generateName text; namespace text; selfLink text; uid text; resourceVersion text; generation int64;
  creationTimestamp+33 time; deletionTimestamp* time; deletionGracePeriodSeconds* int64; labels {text}; annotations {text};
  ownerReferences [OwnerReference] by uid; finalizers [text] set; managedFields [any]
meta.v1.OwnerReference
  apiVersion! text; kind! text; name! text; uid! text; controller* flag; blockOwnerDeletion* flag
`;

const types = parseTypes(metaTypes, podTypes, volumeTypes, storageTypes, workloadTypes, clusterTypes);

/** The schema of a kind from the tables, with metadata. @throws {Error} if no table has the kind */
export function typed(kind: string, description: string): Schema {
  const found = types.get(kind);
  if (found === undefined) throw new Error(`no type ${kind}`);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...fields } = found.fields ?? {};
  const { name: _name, ...rest } = found;
  return { ...rest, description, fields: { metadata: ref('ObjectMeta', 'Standard object metadata.'), ...fields } };
}
