import { isJsonObject } from '../../../kube/api/json.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import type { ObjectGate, Reading } from './contract.ts';
import { excerpt } from './why.ts';

/** Conditions of one object that are looked at. */
const MAX_CONDITIONS = 1_000;

/**
 * Whether the object has the condition, and has it for what its spec says now.
 * @param object - undefined: there is none
 */
export function readObject(object: Readonly<KubeObject> | undefined, gate: Pick<ObjectGate, 'condition' | 'status' | 'kind'>): Reading {
  const no = (why: string): Reading => ({ ok: false, why });
  if (object === undefined) return no('the object does not exist');
  const wanted = gate.status ?? 'True';
  const status = isJsonObject(object['status']) ? object['status'] : {};
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].slice(0, MAX_CONDITIONS) : [];
  const condition = conditions.find((one) => isJsonObject(one) && one['type'] === gate.condition) as Record<string, unknown> | undefined;
  if (condition === undefined) return no(`${gate.kind} has no condition ${gate.condition}`);
  const reason = typeof condition['reason'] === 'string' ? ` (${excerpt(condition['reason'], 64)})` : '';
  const is = `condition ${gate.condition} is ${excerpt(String(condition['status']), 20)}${reason}`;
  if (condition['status'] !== wanted) return no(`${is}, expected ${wanted}`);
  const { generation } = object.metadata;
  const isOld = [condition, status].some(
    ({ observedGeneration: seen }) => typeof seen === 'number' && typeof generation === 'number' && seen < generation,
  );
  return isOld ? no(`${is}, but for an older generation of the spec`) : { ok: true, why: is };
}
