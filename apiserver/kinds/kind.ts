import type { MergeRule } from '../patch/strategic-patch.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { User } from '../auth/authenticate.ts';
import type { FieldError } from '../errors.ts';
import type { Schema } from '../openapi/schema.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** A group and version that serves a kind. Objects are stored in the form of the first one, and converted for the others. */
export interface ServedVersion {
  /** '' for the core group. */
  group: string;
  version: string;
  toStored?(object: KubeObject): KubeObject;
  fromStored?(object: KubeObject): KubeObject;
  /** First release 1.N that serves it. @default all */
  since?: number;
  /** Last release 1.N that serves it. @default all */
  until?: number;
  /** Schema of this version, if it differs from the kind's. */
  schema?: Schema;
  /** Selectable fields of this version whose names differ: served name -> stored name. */
  selectable?: Readonly<Record<string, string>>;
}

/** What rules depend on, besides the object. */
export interface RuleContext {
  /** RFC 3339, UTC, whole seconds. */
  now: string;
  /** The feature gate DynamicKubeletConfig. */
  dynamicKubeletConfig: boolean;
  /** '' for the object itself. */
  subresource: string;
  /** N of the server's release 1.N. */
  release: number;
  /** The other stored objects, for rules that depend on them. */
  stored: Stored;
}

/** Read access to stored objects, for rules. */
export interface Stored {
  /** @param name - of the kind, see {@link storageName} @param key - `NAMESPACE/NAME`, or `NAME` */
  get(name: string, key: string): KubeObject | undefined;
  list(name: string): { objects: readonly KubeObject[] };
}

/**
 * The complete definition of one kind. To add a kind, write its definition and add it to `registry.ts`.
 * Functions are pure: they get copies and return the object to store.
 */
export interface Kind {
  /** Plural, lower case. */
  resource: string;
  singular: string;
  kind: string;
  served: readonly [ServedVersion, ...ServedVersion[]];
  namespaced: boolean;
  /** @default all eight */
  verbs?: readonly Verb[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  /** Errors of a name. */
  nameProblems(name: string): string[];
  /** Has a `status` that only `/status` writes, and `/status` writes nothing else. @default false */
  hasStatus?: boolean;
  /** `metadata.generation` counts changes of everything but metadata and status. @default false */
  hasGeneration?: boolean;
  /** With `hasGeneration`: first release 1.N whose objects have a generation. @default all */
  generationSince?: number;
  /** A delete returns the object instead of a Status. @default false */
  returnsDeleted?: boolean;
  /** An update needs a resourceVersion. @default false */
  needsVersion?: boolean;
  /** Sets defaults, on every write. */
  defaults?(object: KubeObject, context: RuleContext): KubeObject;
  /** Drops fields that a create cannot set. */
  prepareCreate?(object: KubeObject, context: RuleContext): KubeObject;
  /** Drops fields that this update cannot set. Runs after the split of spec and status. */
  prepareUpdate?(object: KubeObject, old: KubeObject, context: RuleContext): KubeObject;
  /** Errors on create. */
  validate?(object: KubeObject, context: RuleContext): FieldError[];
  /** Errors on update. @default the same as `validate` */
  validateUpdate?(object: KubeObject, old: KubeObject, context: RuleContext): FieldError[];
  /** Warnings about the stored object, sent as Warning headers. */
  warnings?(object: KubeObject, context: RuleContext): string[];
  /** Seconds between deletionTimestamp and removal; 0 removes at once. @default 0 */
  gracePeriod?(object: KubeObject, requested: number | undefined): number;
  /** Selectable fields, besides metadata.name and metadata.namespace. */
  selectable?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** @default strategicRules(kind) */
  mergeRule?: MergeRule;
  /** A field that is stored as the received bytes; a strategic merge patch of any other field makes the server encode the field again. */
  verbatim?: string;
  /** Subresources besides `status` that are posted to: `pods/binding`. */
  actions?: Readonly<Record<string, Action>>;
  /** The response to a create of an object that is not stored, such as a review. */
  answer?(posted: KubeObject, user: User, context: RuleContext): KubeObject;
  /** Subresources that show and change the object as another kind: `scale`. */
  views?: Readonly<Record<string, View>>;
  columns: readonly Column[];
  schema: Schema;
}

/** A subresource that is read, updated and patched as an object of another kind. */
export interface View {
  group: string;
  version: string;
  kind: string;
  schema: Schema;
  show(object: KubeObject): KubeObject;
  /** Errors of the view itself. */
  validate(view: KubeObject): FieldError[];
  /** The object after an update of `view`; resourceVersion and uid of the view are preconditions. */
  change(object: KubeObject, view: KubeObject): KubeObject;
}

/** A subresource that is posted to. */
export interface Action {
  /** Kind of the body. */
  kind: string;
  /** Errors of the body itself. */
  validate(body: KubeObject): FieldError[];
  /** The object after the action. @throws StatusError */
  act(object: KubeObject, body: KubeObject, context: RuleContext): KubeObject;
}

/** A kind in one of its versions, as in a path. */
export interface ServedKind {
  kind: Kind;
  at: ServedVersion;
}

/** Name of a kind in storage, independent of the requested version. */
export function storageName(kind: Kind): string {
  const [{ group }] = kind.served;
  return `${group}/${kind.resource}`;
}

/** Whether objects of the kind have `metadata.generation` on a server of release 1.`release`. */
export function hasGeneration(kind: Kind, release: number): boolean {
  return kind.hasGeneration === true && release >= (kind.generationSince ?? 0);
}

export function apiVersion(at: Pick<ServedVersion, 'group' | 'version'>): string {
  return at.group === '' ? at.version : `${at.group}/${at.version}`;
}

export function groupResource({ kind, at }: ServedKind): { group: string; resource: string } {
  return { group: at.group, resource: kind.resource };
}

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  /** @default 'string' */
  type?: 'string' | 'integer' | 'boolean' | 'date';
  /** `name` marks the column with the object's name. */
  format?: string;
  description: string;
  /** Shown with -o wide only. @default false */
  wide?: boolean;
  /** First release 1.N that has the column. @default all */
  since?: number;
  /** Last release 1.N that has the column. @default all */
  until?: number;
  /** @param now - ms since 1970 */
  cell(object: KubeObject, now: number): string | number | boolean;
}

/** The columns of a server of release 1.`release`. */
export const columnsOf = (columns: readonly Column[], release: number): Column[] =>
  columns.filter(({ since = 0, until = Infinity }) => release >= since && release <= until);

export const nameColumn: Column = {
  name: 'Name',
  format: 'name',
  description: 'Name of the object, unique among its kind within a namespace.',
  cell: (object) => object.metadata.name ?? '',
};

export const ageColumn: Column = {
  name: 'Age',
  description: 'Time since the object was created.',
  cell: (object, now) => age(object.metadata.creationTimestamp, now),
};

/** Age of a time, in kubectl's format. */
export function age(time: string | null | undefined, now: number): string {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at);
}

/** `42s`, `3m20s`, `5h10m`, `2d4h`, `90d`, `2y30d`: at most two units, the second only for small values. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const years = Math.floor(days / 365);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return two(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  if (days < 365 * 8) return two(years, 'y', days % 365, 'd');
  return `${years}y`;
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
