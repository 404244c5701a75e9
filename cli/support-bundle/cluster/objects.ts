import { parsed } from '../node/store.ts';
import { redactKubeletConfig, type Withheld } from '../redact/configuration.ts';
import { redactObject } from '../redact/objects.ts';
import { REDACTED } from '../redact/text.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

/** Of a Node: versions, conditions and what assigns its configuration; no addresses, images and labels. */
export function shownNode(node: KubeObject): unknown {
  const { metadata } = node;
  const [spec, status] = [fieldsOf(node['spec']), fieldsOf(node['status'])];
  const { kubeletVersion, kernelVersion, osImage, containerRuntimeVersion, architecture, bootID } = fieldsOf(status['nodeInfo']);
  return redactObject({
    metadata: {
      name: metadata.name,
      uid: metadata.uid,
      creationTimestamp: metadata['creationTimestamp'],
      annotations: metadata.annotations,
    },
    spec: { unschedulable: spec['unschedulable'], taints: spec['taints'], configSource: spec['configSource'] },
    status: {
      conditions: status['conditions'],
      config: status['config'],
      nodeInfo: { kubeletVersion, kernelVersion, osImage, containerRuntimeVersion, architecture, bootID },
    },
  });
}

const KINDS = new Set(['Node', 'NodeConfig', 'NodeConfigRollout']);

/** Of nodes and of our kinds, and all that dkc wrote or that is in its namespace. */
export function isOurEvent(event: KubeObject, namespace: string): boolean {
  const { involvedObject, source, reportingComponent } = event as Fields;
  const { kind, namespace: of } = fieldsOf(involvedObject);
  const by = `${String(fieldsOf(source)['component'])} ${String(reportingComponent)}`;
  return KINDS.has(String(kind)) || of === namespace || by.includes('dkc');
}

export function shownLease({ metadata: { namespace, name }, spec }: KubeObject): unknown {
  return redactObject({ namespace, name, spec });
}

/** Names of keys and, of those that hold a kubelet configuration, the configuration redacted. */
export function shownConfigMap(map: KubeObject, withheld: Withheld): unknown {
  const { data, binaryData, metadata, immutable } = map;
  const values = Object.entries(fieldsOf(data)).map(([key, value]): [string, unknown] => [key, shownValue(value, withheld)]);
  const binary = Object.keys(fieldsOf(binaryData)).map((key): [string, unknown] => [key, REDACTED]);
  const { metadata: about } = redactObject({ metadata }) as { metadata: unknown };
  return {
    metadata: about,
    immutable,
    data: Object.fromEntries(values),
    ...(binary.length === 0 ? {} : { binaryData: Object.fromEntries(binary) }),
  };
}

function shownValue(value: unknown, withheld: Withheld): unknown {
  const text = typeof value === 'string' ? value : '';
  const document = parsed(text);
  if (fieldsOf(document)['kind'] === 'KubeletConfiguration') return redactKubeletConfig(document, withheld);
  withheld(text, 'unlisted');
  return `${REDACTED} (${Buffer.byteLength(text)} bytes that are not a KubeletConfiguration)`;
}
