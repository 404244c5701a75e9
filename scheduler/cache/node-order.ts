/**
 * Nodes of all zones in turn: the first of each zone, then the second of each, and so on; a zone that has no more is passed over. Zones and their nodes keep
 * the order in which they came.
 */
export function interleaveZones<T extends { readonly zone: string }>(nodes: Iterable<T>): T[] {
  const zones = new Map<string, T[]>();
  for (const node of nodes) {
    const zone = zones.get(node.zone);
    if (zone === undefined) zones.set(node.zone, [node]);
    else zone.push(node);
  }
  const order: T[] = [];
  const rows = [...zones.values()];
  for (let at = 0; ; at++) {
    const row = rows.flatMap((zone) => zone.slice(at, at + 1));
    if (row.length === 0) return order;
    order.push(...row);
  }
}
