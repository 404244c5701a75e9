import type { InTurns } from '../../base/waiting.ts';
import { identityOf } from '../../kube/api/ordinals.ts';
import { compareQuantities, quantity } from '../../kube/api/quantity.ts';
import type { Rules } from './rules.ts';
import type { Pvc, StorageClass } from '../common/types.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

export interface GrowthPlan {
  /** Whole objects, with the resourceVersion of the cache. */
  write: Pvc[];
  /** Claims that are too small and cannot be expanded, and why. */
  refused: { pvc: string; why: string }[];
}

/** Claims of a namespace that are looked at, and places of one template whose claims are sorted, in one step. */
const STEP = 1_000;

/**
 * Expands claims that are smaller than their template requests now. The templates of a set are immutable, but a set can be created again around its pods, with
 * larger ones. Sizes are never lowered. The caller checks that the set opted in.
 * @param pvcs - all claims of the set's namespace, in any order: those that belong to no place of the set are ignored
 * @param classOf - undefined returns the class of claims that name none
 */
export function* planGrowth(
  rules: Rules,
  pvcs: readonly Readonly<Pvc>[],
  classOf: (name: string | undefined) => Readonly<StorageClass> | undefined,
): InTurns<GrowthPlan> {
  const plan: GrowthPlan = { write: [], refused: [] };
  const own = yield* pvcsOfPlaces(rules, pvcs);
  for (const [n, { pvc, size }] of own.entries()) {
    if (n % STEP === 0) yield;
    if (!isExpandable(pvc) || !isSmaller(sizeOf(pvc), size)) continue;
    const why = obstacle(pvc, classOf);
    const { name = '' } = pvc.metadata;
    if (why === undefined) plan.write.push(withSize(pvc, size));
    else plan.refused.push({ pvc: name, why: `it is smaller than the ${size} of its template, and ${why}` });
  }
  return plan;
}

interface PvcOfPlace {
  pvc: Readonly<Pvc>;
  /** Requested by the template. */
  size: string;
  place: number;
}

/** Claims of the set's places whose templates request a size, in the order of the templates. Takes time per claim, whatever `replicas` says. */
function* pvcsOfPlaces(rules: Rules, pvcs: readonly Readonly<Pvc>[]): InTurns<PvcOfPlace[]> {
  const templates = new Map(rules.claimTemplates.map((template, at) => [template.metadata.name ?? '', { at, size: sizeOf(template) }]));
  const suffix = `-${rules.name}`;
  // By template and some consecutive places: sorting all claims of a large set would be one long step.
  const groups = new Map<number, PvcOfPlace[]>();
  const groupsOfTemplate = Math.ceil(rules.places.length / STEP);
  for (const [n, pvc] of pvcs.entries()) {
    if (n % STEP === 0) yield;
    const identity = identityOf(pvc.metadata.name ?? '');
    if (identity?.parent.endsWith(suffix) !== true) continue;
    const place = rules.places.placeOf(identity.ordinal);
    const template = templates.get(identity.parent.slice(0, -suffix.length));
    if (place === undefined || template?.size === undefined) continue;
    const at = template.at * groupsOfTemplate + Math.floor(place / STEP);
    const group = groups.get(at) ?? [];
    groups.set(at, group);
    group.push({ pvc, size: template.size, place });
  }
  const own: PvcOfPlace[] = [];
  for (const [, group] of [...groups].sort(([a], [b]) => a - b)) {
    own.push(...group.sort((a, b) => a.place - b.place));
    yield;
  }
  return own;
}

/** The API server accepts a new size for bound claims only. A claim that is not bound yet is evaluated again when its pod has started. */
function isExpandable({ metadata, status }: Readonly<Pvc>): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Bound';
}

/** undefined: the claim can be expanded. */
function obstacle(pvc: Readonly<Pvc>, classOf: Parameters<typeof planGrowth>[2]): string | undefined {
  const name = pvc.metadata.annotations?.[CLASS_ANNOTATION] ?? pvc.spec?.storageClassName;
  if (name === '') return 'it has no storage class, so nothing can expand it';
  const found = classOf(name);
  if (found === undefined) return name === undefined ? 'there is no default storage class' : `storage class ${name} does not exist`;
  if (found.allowVolumeExpansion === true) return undefined;
  return `storage class ${name ?? found.metadata.name ?? ''} does not set allowVolumeExpansion`;
}

function sizeOf({ spec }: Readonly<Pvc>): string | undefined {
  return spec?.resources?.requests?.['storage'];
}

function isSmaller(has: string | undefined, wants: string): boolean {
  const [from, to] = [quantity(has ?? ''), quantity(wants)];
  return from !== undefined && to !== undefined && compareQuantities(from, to) < 0;
}

function withSize(pvc: Readonly<Pvc>, storage: string): Pvc {
  const { spec } = pvc;
  const requests = { ...spec?.resources?.requests, storage };
  return { ...pvc, spec: { ...spec, resources: { ...spec?.resources, requests } } };
}
