/** How a strategic merge patch treats a list: by the key of its items, or as a set of plain values. */
export type ListMerge = { by: string } | { as: 'set' };
