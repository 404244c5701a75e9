/** Metadata and selectors inside other objects. Notation: openapi/notation.ts. */
export const metaTypes = `
meta.v1.LabelSelector
  matchLabels {text}; matchExpressions [LabelSelectorRequirement]
meta.v1.Condition
  type! text; status! text; observedGeneration int64; lastTransitionTime! time; reason! text; message! text
meta.v1.LabelSelectorRequirement
  key! text; operator! text; values [text]
meta.v1.ObjectMeta
  name text; generateName text; namespace text; selfLink text; uid text; resourceVersion text; generation int64;
  creationTimestamp+33 time; deletionTimestamp* time; deletionGracePeriodSeconds* int64; labels {text}; annotations {text};
  ownerReferences [OwnerReference] by uid; finalizers [text] set; managedFields [any]
meta.v1.OwnerReference
  apiVersion! text; kind! text; name! text; uid! text; controller* flag; blockOwnerDeletion* flag
`;
