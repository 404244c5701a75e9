/** Services, roles and the rest. Notation: openapi/notation.ts. */
export const clusterTypes = `
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
