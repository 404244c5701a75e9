import { statefulSets } from '../../kube/api/resources.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { podFromTemplate } from '../common/pod-from-template.ts';
import { POD_INDEX_LABEL, POD_NAME_LABEL } from './identity.ts';
import type { Rules } from './rules.ts';
import { volumesOf } from './storage.ts';
import type { Pod, PodTemplate } from './types.ts';

/** A pod with its name, its host name and its claims. @throws {Error} for a template without labels */
export function newPod(
  rules: Rules,
  { name, ordinal, revision, template }: { name: string; ordinal: number; revision: string; template: Readonly<PodTemplate> },
): Pod {
  const { set, namespace } = rules;
  const pod = podFromTemplate(template, set, statefulSets);
  const labels = { ...pod.metadata.labels, [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal), [HASH_LABEL]: revision };
  const spec = template.spec ?? { containers: [] };
  const volumes = volumesOf(rules, ordinal, spec.volumes);
  return {
    ...pod,
    metadata: { ...pod.metadata, name, namespace, labels },
    spec: {
      ...spec,
      hostname: name,
      ...(set.spec?.serviceName === undefined ? {} : { subdomain: set.spec.serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}
