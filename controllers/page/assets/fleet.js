/** The state of the page: nodes and rollouts by name, updated by the messages of the event stream. Independent of the DOM. */
export class Fleet {
  /** @type {Map<string, Record<string, string>>} */
  nodes = new Map();
  /** @type {Map<string, any>} */
  rollouts = new Map();
  /** Of the last message; RFC 3339. */
  time = '';
  /** Number of nodes of each state and standing, that need attention, and that are not Ready; updated with each change. */
  counts = { state: {}, standing: {}, troubled: 0, unready: 0 };

  /**
   * Applies a picture or a change.
   * @returns what differs: names of nodes that were added or removed (`reordered`), names of nodes that changed, whether rollouts changed
   */
  apply(message) {
    if (message.version !== 1) throw new Error(`this page is older than its server (version ${message.version}); reload it`);
    const { columns, strings } = message;
    let reordered = message.full;
    const changed = [];
    const there = new Set();
    for (const row of message.nodes) {
      const node = {};
      for (let at = 0; at < columns.length; at++) node[columns[at]] = strings[row[at]];
      node.troubled = isTroubled(node);
      const before = this.nodes.get(node.name);
      reordered ||= before === undefined || groupings.some((of) => before[of] !== node[of]);
      this.#put(node.name, node);
      changed.push(node.name);
      there.add(node.name);
    }
    if (message.full) for (const name of this.nodes.keys()) if (!there.has(name)) this.#put(name, undefined);
    for (const name of message.goneNodes) reordered = this.#put(name, undefined) || reordered;
    if (message.full) this.rollouts.clear();
    for (const rollout of message.rollouts) this.rollouts.set(rollout.name, rollout);
    for (const name of message.goneRollouts) this.rollouts.delete(name);
    this.time = message.time;
    return { reordered, changed, rollouts: message.full || message.rollouts.length > 0 || message.goneRollouts.length > 0 };
  }

  /** @returns whether it was there */
  #put(name, node) {
    const before = this.nodes.get(name);
    if (before !== undefined) this.#count(before, -1);
    if (node === undefined) this.nodes.delete(name);
    else {
      this.nodes.set(name, node);
      this.#count(node, 1);
    }
    return before !== undefined;
  }

  #count(node, by) {
    const { counts } = this;
    counts.state[node.state] = (counts.state[node.state] ?? 0) + by;
    counts.standing[node.standing] = (counts.standing[node.standing] ?? 0) + by;
    if (node.troubled) counts.troubled += by;
    if (node.ready === 'False') counts.unready += by;
  }
}

/** States that need attention. */
const bad = new Set(['refused', 'condemned', 'fell-back', 'error']);

const isTroubled = ({ state, standing, drift }) => bad.has(state) || standing === 'failed' || drift !== '';

/** Members by which nodes can be grouped. */
const groupings = ['zone', 'pool', 'kubeletVersion'];

const collator = new Intl.Collator('en', { numeric: true });
export const compareNames = (a, b) => collator.compare(a, b);

/** Nodes in the order of the page: groups by name, those without a value last; in each, nodes by name. */
export function grouped(nodes, by) {
  const groups = new Map();
  for (const node of nodes) {
    const key = by === '' ? '' : node[by];
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node.name]);
    else group.push(node.name);
  }
  return [...groups]
    .map(([key, names]) => ({ key, names: names.sort(compareNames) }))
    .sort((a, b) => (a.key === '') - (b.key === '') || compareNames(a.key, b.key));
}

/** Whether a node passes the filter: every word must occur in some text of the node. */
export function passes(node, { words, states, standings }) {
  if (states.size > 0 && !states.has(node.state)) return false;
  if (standings.size > 0 && !standings.has(node.standing)) return false;
  if (words.length === 0) return true;
  const text =
    `${node.name} ${node.state} ${node.standing} ${node.rollout} ${node.zone} ${node.pool} ${node.kubeletVersion} ${node.wanted} ${node.active} ${node.error} ${node.maintenance} ${node.drift === '' ? '' : `drifted ${node.drift}`}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
