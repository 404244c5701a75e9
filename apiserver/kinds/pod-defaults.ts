import { isJsonObject } from '../../kube/api/json.ts';
import { mapField, mapItems, withDefaults } from './number-rules.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

// Defaults of a pod's spec, as in k8s.io/kubernetes/pkg/apis/core/v1 of 1.20.
const specDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

const containerDefaults = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', resources: {} };

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

/** A pod's spec, alone or in a template, with the defaults of every API server. Idempotent. */
export function podSpecDefaults(given: unknown): Record<string, unknown> {
  let spec = withDefaults(isJsonObject(given) ? given : {}, specDefaults);
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (account !== '') spec = { ...spec, serviceAccountName: account, serviceAccount: account };
  const onHost = spec['hostNetwork'] === true;
  for (const field of ['containers', 'initContainers', 'ephemeralContainers']) {
    spec = mapItems(spec, field, (container) => containerOf(container, onHost && field !== 'ephemeralContainers'));
  }
  return mapItems(spec, 'volumes', volume);
}

function containerOf(given: unknown, onHost: boolean): unknown {
  if (!isJsonObject(given)) return given;
  let container = withDefaults(given, { ...containerDefaults, imagePullPolicy: pullPolicy(textAt(given, 'image')) });
  container = mapItems(container, 'ports', (port) => portOf(port, onHost));
  container = mapField(container, 'resources', requestsFromLimits);
  container = mapItems(container, 'env', (one) => mapField(one, 'valueFrom', (from) => mapField(from, 'fieldRef', fieldRef)));
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) container = mapField(container, field, probe);
  return mapField(container, 'lifecycle', (lifecycle) => mapField(mapField(lifecycle, 'postStart', action), 'preStop', action));
}

/** Always for images without a tag or with the tag latest, which may have changed since they were pulled. */
function pullPolicy(image: string): string {
  if (image === '' || image.includes('@')) return 'IfNotPresent';
  const tag = image.slice(image.lastIndexOf('/') + 1);
  return !tag.includes(':') || tag.endsWith(':latest') ? 'Always' : 'IfNotPresent';
}

function portOf(given: unknown, onHost: boolean): unknown {
  const port = withDefaults(given, { protocol: 'TCP' });
  // With hostNetwork, ports of a container are ports of the host.
  return onHost ? withDefaults(port, { hostPort: fieldAt(port, 'containerPort') }) : port;
}

/** A limit without a request sets the request to the limit. */
function requestsFromLimits(resources: unknown): unknown {
  const limits = fieldAt(resources, 'limits');
  if (!isJsonObject(resources) || !isJsonObject(limits) || Object.keys(limits).length === 0) return resources;
  return { ...resources, requests: withDefaults(resources['requests'] ?? {}, limits) };
}

const fieldRef = (ref: unknown): unknown => withDefaults(ref, { apiVersion: 'v1' });

function probe(given: unknown): unknown {
  return mapField(action(withDefaults(given, probeDefaults)), 'grpc', (grpc) => withDefaults(grpc, { service: '' }));
}

function action(given: unknown): unknown {
  return mapField(given, 'httpGet', (get) => withDefaults(get, { path: '/', scheme: 'HTTP' }));
}

// Defaults of each kind of volume.
const volumeDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  secret: { defaultMode: 0o644 },
  configMap: { defaultMode: 0o644 },
  downwardAPI: { defaultMode: 0o644 },
  projected: { defaultMode: 0o644 },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};

function volume(given: unknown): unknown {
  if (!isJsonObject(given)) return given;
  const { name: _name, ...sources } = given;
  let made = Object.keys(sources).length === 0 ? { ...given, emptyDir: {} } : given;
  for (const [source, defaults] of Object.entries(volumeDefaults)) made = mapField(made, source, (one) => withDefaults(one, defaults));
  made = mapField(made, 'downwardAPI', downward);
  made = mapField(made, 'ephemeral', (one) =>
    mapField(one, 'volumeClaimTemplate', (template) =>
      mapField(template, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' })),
    ),
  );
  return mapField(made, 'projected', (one) =>
    mapItems(one, 'sources', (source) =>
      mapField(mapField(source, 'downwardAPI', downward), 'serviceAccountToken', (token) =>
        withDefaults(token, { expirationSeconds: 3600 }),
      ),
    ),
  );
}

function downward(given: unknown): unknown {
  return mapItems(given, 'items', (item) => mapField(item, 'fieldRef', fieldRef));
}

/** Defaults of a pod template. */
export function templateDefaults(template: unknown): unknown {
  if (!isJsonObject(template)) return template;
  return { ...template, spec: podSpecDefaults(template['spec']) };
}
