export interface StatefulSetOptions {
  /** Sets reconciled at once. @default 5 */
  workers?: number;
  /** Sets, pods and claims of this namespace alone. @default all */
  namespace?: string;
  /** Label selector: sets that do not match are somebody else's. @default all */
  objectSelector?: string;
}
