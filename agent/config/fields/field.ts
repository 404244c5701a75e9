import type { FieldClass, Json } from '../contract.ts';

/** A field of KubeletConfiguration v1beta1 that has a value. Structs are split into such leaves. */
export interface Field {
  /** Path in the document, dots between the levels. */
  readonly name: string;
  /** What it means: `path`, `duration`, `enum(a|b)`, `map<signal,quantity|percent>`. `shapeOf` says what JSON that is. */
  readonly type: string;
  /** First minor that knows the field; 20 also stands for older ones. */
  readonly since: number;
  /** Last minor that knows it, where a kubelet dropped it again. */
  readonly until?: number;
  /** Value of an absent field, by the first minor that fills it in so; null from where absent stays absent again. None: absent stays absent. */
  readonly default?: Readonly<Record<number, Json>>;
  /** An explicit zero, false or "" is kept; elsewhere it counts as absent and takes the default. */
  readonly pointer?: true;
  /** First minor for which `pointer` holds, where it came later than the field. */
  readonly pointerSince?: number;
  /** A relative value is resolved against the directory of the file. */
  readonly path?: true;
  /** The command line flag that beats it, without dashes. */
  readonly flag?: string;
  /** Of a number: the kubelet's own validation refuses one that is not between them. */
  readonly bounds?: Bounds;
  /** Rule of the kubelet's own validation, in words; rules/ holds it as code. Bounds are not repeated. */
  readonly rule?: string;
  /** What only the starting kubelet checks, in words; preflight/ holds what of it can be seen before. */
  readonly startup?: string;
  /** Values never leave the node, not even in the admin's own diff. */
  readonly secret?: true;
  /** Class of a change on a live node, and why. */
  readonly class: FieldClass;
  readonly reason: string;
}

/** Least and most are allowed themselves. */
export interface Bounds {
  readonly least: number;
  /** @default any */
  readonly most?: number;
  /** First minor that checks it. @default that of the field */
  readonly since?: number;
  /** Id of the rule in findings. */
  readonly rule: string;
}
