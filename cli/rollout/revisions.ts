import { ActionError } from '../../base/errors.ts';
import { numberOf, type ConfigMap } from '../../controllers/rollout/revision.ts';
import { ROLLOUT_LABEL, type NodeConfigRollout } from '../../controllers/rollout/types.ts';
import { configMaps } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { isControlledBy } from '../../kube/controller/owners.ts';

/** Copies that a rollout has made, the newest first. */
export async function revisionsOf(client: Pick<Client, 'listEach'>, rollout: NodeConfigRollout, signal: AbortSignal): Promise<ConfigMap[]> {
  const { uid = '' } = rollout.metadata;
  const namespace = rollout.spec?.configMap?.namespace ?? '';
  const found: ConfigMap[] = [];
  const add = (one: ConfigMap): void => void (isControlledBy(one, rollout) && found.push(one));
  await client.listEach<ConfigMap>(configMaps, { namespace, labelSelector: `${ROLLOUT_LABEL}=${uid}` }, add, { signal });
  return found.toSorted((a, b) => numberOf(b) - numberOf(a));
}

/** The revision with this number. @throws {ActionError} where there is none */
export function revisionNumbered(revisions: readonly ConfigMap[], number: number, action: string, rollout: NodeConfigRollout): ConfigMap {
  const found = revisions.find((one) => numberOf(one) === number);
  if (found !== undefined) return found;
  const numbers = revisions.map(numberOf).join(', ');
  const hint = revisions.length === 0 ? 'it has no revisions yet' : `there is no such revision; the numbers are ${numbers}`;
  throw new ActionError(action, `revision ${number} of NodeConfigRollout ${rollout.metadata.name}`, { hint });
}
