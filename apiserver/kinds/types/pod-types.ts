/** Types of a pod without its volumes. Notation: openapi/schema.ts. */
export const podTypes = `
core.v1.Pod
  spec+ PodSpec; status+ PodStatus
core.v1.PodSpec
  volumes [Volume] by name; initContainers [Container] by name; containers! [Container] by name;
  ephemeralContainers [EphemeralContainer] by name @23; restartPolicy text; terminationGracePeriodSeconds* int64;
  activeDeadlineSeconds* int64; dnsPolicy text; nodeSelector {text}; serviceAccountName text; serviceAccount text;
  automountServiceAccountToken* flag; nodeName text; hostNetwork flag; hostPID flag; hostIPC flag; shareProcessNamespace* flag;
  securityContext* PodSecurityContext; imagePullSecrets [LocalObjectReference] by name; hostname text; subdomain text;
  affinity* Affinity; schedulerName text; tolerations [Toleration]; hostAliases [HostAlias] by ip; priorityClassName text;
  priority* int32; dnsConfig* PodDNSConfig; readinessGates [PodReadinessGate]; runtimeClassName* text; enableServiceLinks* flag;
  preemptionPolicy* text; overhead {quantity}; topologySpreadConstraints [TopologySpreadConstraint] by topologyKey;
  setHostnameAsFQDN* flag; os* PodOS @24; hostUsers* flag @30; schedulingGates [PodSchedulingGate] by name @27;
  resourceClaims [PodResourceClaim] by name @34; resources* ResourceRequirements @34
core.v1.PodStatus
  phase text; conditions [PodCondition] by type; message text; reason text; nominatedNodeName text; hostIP text; podIP text;
  podIPs [PodIP] by ip; startTime* time; initContainerStatuses [ContainerStatus]; containerStatuses [ContainerStatus]; qosClass text;
  ephemeralContainerStatuses [ContainerStatus]; hostIPs [HostIP] by ip @29; resize text @33; observedGeneration int64 @34
core.v1.PodTemplateSpec
  metadata+ ObjectMeta; spec+ PodSpec
core.v1.ObjectReference
  kind text; namespace text; name text; uid text; apiVersion text; resourceVersion text; fieldPath text
core.v1.Container
  name! text; image text; command [text]; args [text]; workingDir text; ports [ContainerPort] by containerPort; envFrom [EnvFromSource];
  env [EnvVar] by name; resources+ ResourceRequirements; volumeMounts [VolumeMount] by mountPath;
  volumeDevices [VolumeDevice] by devicePath; livenessProbe* Probe; readinessProbe* Probe; startupProbe* Probe; lifecycle* Lifecycle;
  terminationMessagePath text; terminationMessagePolicy text; imagePullPolicy text; securityContext* SecurityContext; stdin flag;
  stdinOnce flag; tty flag; restartPolicy* text @29; resizePolicy [ContainerResizePolicy] @33
core.v1.EphemeralContainer
  name! text; image text; command [text]; args [text]; workingDir text; ports [ContainerPort]; envFrom [EnvFromSource];
  env [EnvVar] by name; resources+ ResourceRequirements; volumeMounts [VolumeMount] by mountPath;
  volumeDevices [VolumeDevice] by devicePath; livenessProbe* Probe; readinessProbe* Probe; startupProbe* Probe; lifecycle* Lifecycle;
  terminationMessagePath text; terminationMessagePolicy text; imagePullPolicy text; securityContext* SecurityContext; stdin flag;
  stdinOnce flag; tty flag; targetContainerName text
core.v1.PodSecurityContext
  seLinuxOptions* SELinuxOptions; windowsOptions* WindowsSecurityContextOptions; runAsUser* int64; runAsGroup* int64;
  runAsNonRoot* flag; supplementalGroups [int64]; fsGroup* int64; sysctls [Sysctl]; fsGroupChangePolicy* text;
  seccompProfile* SeccompProfile; appArmorProfile* AppArmorProfile @30; supplementalGroupsPolicy* text @33
core.v1.LocalObjectReference
  name text
core.v1.Affinity
  nodeAffinity* NodeAffinity; podAffinity* PodAffinity; podAntiAffinity* PodAntiAffinity
core.v1.Toleration
  key text; operator text; value text; effect text; tolerationSeconds* int64
core.v1.HostAlias
  ip text; hostnames [text]
core.v1.PodDNSConfig
  nameservers [text]; searches [text]; options [PodDNSConfigOption]
core.v1.PodReadinessGate
  conditionType! text
core.v1.TopologySpreadConstraint
  maxSkew! int32; topologyKey! text; whenUnsatisfiable! text; labelSelector* LabelSelector; minDomains* int32 @27;
  nodeAffinityPolicy* text @26; nodeTaintsPolicy* text @26; matchLabelKeys [text] @27
core.v1.PodCondition
  type! text; status! text; lastProbeTime+ time; lastTransitionTime+ time; reason text; message text; observedGeneration int64 @34
core.v1.PodIP
  ip text
core.v1.ContainerStatus
  name! text; state+ ContainerState; lastState+ ContainerState; ready! flag; restartCount! int32; image! text; imageID! text;
  containerID text; started* flag; allocatedResources {quantity} @33; resources* ResourceRequirements @33;
  volumeMounts [VolumeMountStatus] by mountPath @31
core.v1.SessionAffinityConfig
  clientIP* ClientIPConfig
core.v1.ResourceRequirements
  limits {quantity}; requests {quantity}; claims [ContainerResourceClaim] @34
core.v1.ContainerPort
  name text; hostPort int32; containerPort! int32; protocol text; hostIP text
core.v1.EnvFromSource
  prefix text; configMapRef* ConfigMapEnvSource; secretRef* SecretEnvSource
core.v1.EnvVar
  name! text; value text; valueFrom* EnvVarSource
core.v1.VolumeMount
  name! text; readOnly flag; mountPath! text; subPath text; mountPropagation* text; subPathExpr text; recursiveReadOnly* text @31
core.v1.VolumeDevice
  name! text; devicePath! text
core.v1.Probe
  exec* ExecAction; httpGet* HTTPGetAction; tcpSocket* TCPSocketAction; initialDelaySeconds int32; timeoutSeconds int32;
  periodSeconds int32; successThreshold int32; failureThreshold int32; grpc* GRPCAction @24; terminationGracePeriodSeconds* int64 @22
core.v1.Lifecycle
  postStart* Handler; preStop* Handler
core.v1.SecurityContext
  capabilities* Capabilities; privileged* flag; seLinuxOptions* SELinuxOptions; windowsOptions* WindowsSecurityContextOptions;
  runAsUser* int64; runAsGroup* int64; runAsNonRoot* flag; readOnlyRootFilesystem* flag; allowPrivilegeEscalation* flag;
  procMount* text; seccompProfile* SeccompProfile; appArmorProfile* AppArmorProfile @30
core.v1.SELinuxOptions
  user text; role text; type text; level text
core.v1.WindowsSecurityContextOptions
  gmsaCredentialSpecName* text; gmsaCredentialSpec* text; runAsUserName* text; hostProcess* flag @22
core.v1.Sysctl
  name! text; value! text
core.v1.SeccompProfile
  type! text; localhostProfile* text
core.v1.NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution* NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution [PreferredSchedulingTerm]
core.v1.PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm];
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
core.v1.PodAntiAffinity
  requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm];
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
core.v1.PodDNSConfigOption
  name text; value* text
core.v1.ContainerState
  waiting* ContainerStateWaiting; running* ContainerStateRunning; terminated* ContainerStateTerminated
core.v1.NodeSelector
  nodeSelectorTerms! [NodeSelectorTerm]
core.v1.ConfigMapEnvSource
  name text; optional* flag
core.v1.SecretEnvSource
  name text; optional* flag
core.v1.EnvVarSource
  fieldRef* ObjectFieldSelector; resourceFieldRef* ResourceFieldSelector; configMapKeyRef* ConfigMapKeySelector;
  secretKeyRef* SecretKeySelector
core.v1.ExecAction
  command [text]
core.v1.HTTPGetAction
  path text; port! intOrText; host text; scheme text; httpHeaders [HTTPHeader]
core.v1.TCPSocketAction
  port! intOrText; host text
core.v1.Handler
  exec* ExecAction; httpGet* HTTPGetAction; tcpSocket* TCPSocketAction; sleep* SleepAction @30
core.v1.Capabilities
  add [text]; drop [text]
core.v1.PreferredSchedulingTerm
  weight! int32; preference! NodeSelectorTerm
core.v1.PodAffinityTerm
  labelSelector* LabelSelector; namespaces [text]; topologyKey! text; namespaceSelector* LabelSelector @22; matchLabelKeys [text] @31;
  mismatchLabelKeys [text] @31
core.v1.WeightedPodAffinityTerm
  weight! int32; podAffinityTerm! PodAffinityTerm
core.v1.ContainerStateWaiting
  reason text; message text
core.v1.ContainerStateRunning
  startedAt+ time
core.v1.ContainerStateTerminated
  exitCode! int32; signal int32; reason text; message text; startedAt+ time; finishedAt+ time; containerID text
core.v1.NodeSelectorTerm
  matchExpressions [NodeSelectorRequirement]; matchFields [NodeSelectorRequirement]
core.v1.ObjectFieldSelector
  apiVersion text; fieldPath! text
core.v1.ResourceFieldSelector
  containerName text; resource! text; divisor+ quantity
core.v1.ConfigMapKeySelector
  name text; key! text; optional* flag
core.v1.SecretKeySelector
  name text; key! text; optional* flag
core.v1.HTTPHeader
  name! text; value! text
core.v1.NodeSelectorRequirement
  key! text; operator! text; values [text]
core.v1.PodOS
  name! text
core.v1.PodSchedulingGate
  name! text
core.v1.PodResourceClaim
  name! text; resourceClaimName* text; resourceClaimTemplateName* text
core.v1.ContainerResizePolicy
  resourceName! text; restartPolicy! text
core.v1.ContainerResourceClaim
  name! text; request text
core.v1.GRPCAction
  port! int32; service* text
core.v1.SleepAction
  seconds! int64
core.v1.AppArmorProfile
  type! text; localhostProfile* text
core.v1.HostIP
  ip text
core.v1.VolumeMountStatus
  name! text; mountPath! text; readOnly flag; recursiveReadOnly* text
`;
