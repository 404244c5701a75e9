import type { FieldClass, Json } from '../contract.ts';

/** A field of KubeletConfiguration v1beta1 that has a value. Structs are split into such leaves. */
export interface Field {
  /** Path in the document, dots between the levels. */
  readonly name: string;
  /** Type of the value: `path`, `duration`, `enum(a|b)`, `map<signal,quantity|percent>`. `shapeOf` gives its JSON shape. */
  readonly type: string;
  /** First minor with the field; 20 also stands for older ones. */
  readonly since: number;
  /** Last minor with the field, where it was removed. */
  readonly until?: number;
  /** Default of an absent field, by the first minor with that default; null from the minor without a default on. Absent: no default. */
  readonly default?: Readonly<Record<number, Json>>;
  /** An explicit zero, false or "" is kept; elsewhere it counts as absent and takes the default. */
  readonly pointer?: true;
  /** First minor for which `pointer` holds, where it came later than the field. */
  readonly pointerSince?: number;
  /** A relative value is resolved against the directory of the file. */
  readonly path?: true;
  /** The command line flag that overrides the field, without dashes. */
  readonly flag?: string;
  /** Bounds of a number in the kubelet's own validation. */
  readonly bounds?: Bounds;
  /** Rule of the kubelet's own validation as text; rules/ has the code. Bounds are not repeated. */
  readonly rule?: string;
  /** What the kubelet checks only at its start, as text; preflight/ has the part that can be checked earlier. */
  readonly startup?: string;
  /** Values never leave the node, not even in the admin's own diff. */
  readonly secret?: true;
  /** Class of a change on a live node, and why. */
  readonly class: FieldClass;
  readonly reason: string;
}

/** Inclusive bounds. */
export interface Bounds {
  readonly least: number;
  /** @default any */
  readonly most?: number;
  /** First minor that checks the bounds. @default that of the field */
  readonly since?: number;
  /** Id of the rule in findings. */
  readonly rule: string;
}
