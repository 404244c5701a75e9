/** How states look: each has a colour of page.css and a letter, so that colour alone never distinguishes states. */
export const states = {
  trusted: { letter: '', says: 'runs its assigned configuration, which passed its trial' },
  local: { letter: '', says: 'runs its local configuration; nothing is assigned' },
  trial: { letter: 'T', says: 'runs its assigned configuration on trial' },
  pending: { letter: 'P', says: 'the agent has not applied the new assignment yet' },
  refused: { letter: 'R', says: 'the agent rejected the configuration before any restart; the previous one still runs' },
  condemned: { letter: 'C', says: 'the configuration failed its trial, or was rolled back' },
  'fell-back': { letter: 'F', says: 'the assigned configuration could not be used; another one runs' },
  error: { letter: 'E', says: 'sync failed, for example because the ConfigMap is missing' },
  'no-agent': { letter: '', says: 'no agent has ever reported for this node' },
};

export const standings = {
  waiting: 'not assigned the revision yet',
  'in-flight': 'assigned the revision, not settled yet',
  settled: 'runs the revision, healthy and Ready',
  failed: 'rejected the revision, rolled it back, or was not settled by the deadline',
  'no-agent': 'no agent: not touched',
};

/** Draws cells; each variant is drawn once and then copied. */
export class Cells {
  #sprites = new Map();
  #colours = {};
  size = 0;
  scale = 1;

  /** Reads the colours of page.css; called again when the colour scheme changes. */
  readColours() {
    const style = getComputedStyle(document.documentElement);
    const names = [...Object.keys(states), 'ink', 'ring', 'paper', 'text', 'focus', 'failed', 'mark'];
    this.#colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.#sprites.clear();
  }

  /** A colour of page.css, without its dashes. */
  colour(name) {
    return this.#colours[name];
  }

  resize(size, scale) {
    if (this.size === size && this.scale === scale) return;
    this.size = size;
    this.scale = scale;
    this.#sprites.clear();
  }

  /** A canvas with the cell of a node, without what {@link strike} adds. */
  of(node) {
    const key = `${node.state}/${node.standing}/${node.cordoned}/${node.drift === ''}`;
    let sprite = this.#sprites.get(key);
    if (sprite === undefined) this.#sprites.set(key, (sprite = this.draw({ ...node, ready: '' }, this.size, this.scale)));
    return sprite;
  }

  /** Marks a cell as that of a node that is not Ready. */
  strike(on, size, x = 0, y = 0) {
    const line = Math.max(1.25, size / 12);
    const inset = 2 + line / 2;
    on.strokeStyle = this.#colours.mark;
    on.lineWidth = line;
    on.beginPath();
    on.moveTo(x + inset, y + size - inset);
    on.lineTo(x + size - inset, y + inset);
    on.stroke();
  }

  draw({ state, standing, ready, cordoned, drift = '' }, size, scale) {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = Math.round(size * scale);
    const on = canvas.getContext('2d');
    on.scale(scale, scale);
    const colour = this.#colours[state] ?? this.#colours.local;
    const gap = size >= 14 ? 1 : 0.5;
    const side = size - 2 * gap;
    const round = Math.max(1.5, size / 8);
    const box = (inset) => {
      on.beginPath();
      on.roundRect(gap + inset, gap + inset, side - 2 * inset, side - 2 * inset, Math.max(0, round - inset / 2));
    };
    const line = Math.max(1.25, size / 12);
    if (state === 'no-agent') {
      on.strokeStyle = colour;
      on.lineWidth = 1;
      on.setLineDash([2, 2]);
      box(0.5);
      on.stroke();
      on.setLineDash([]);
    } else {
      on.fillStyle = standing === 'waiting' ? `color-mix(in srgb, ${colour} 42%, ${this.#colours.paper})` : colour;
      box(0);
      on.fill();
    }
    if (standing === 'in-flight') {
      on.strokeStyle = this.#colours.ring;
      on.lineWidth = line;
      box(line / 2);
      on.stroke();
    }
    if (standing === 'failed') {
      on.strokeStyle = this.#colours.failed;
      on.lineWidth = line;
      box(line / 2);
      on.stroke();
    }
    if (ready === 'False') this.strike(on, size);
    if (cordoned === 'True') {
      on.fillStyle = this.#colours.mark;
      on.beginPath();
      on.moveTo(size - gap, size - gap);
      on.lineTo(size - gap - size / 3, size - gap);
      on.lineTo(size - gap, size - gap - size / 3);
      on.fill();
    }
    if (drift !== '') {
      on.fillStyle = this.#colours.failed;
      on.beginPath();
      on.moveTo(gap, gap);
      on.lineTo(gap + size / 2.5, gap);
      on.lineTo(gap, gap + size / 2.5);
      on.fill();
    }
    const letter = standing === 'failed' && states[state]?.letter === '' ? '!' : (states[state]?.letter ?? '?');
    if (letter !== '' && size >= 9) {
      on.fillStyle = this.#colours.ink;
      on.font = `600 ${Math.round(size * 0.62)}px system-ui, sans-serif`;
      on.textAlign = 'center';
      on.textBaseline = 'middle';
      on.fillText(letter, size / 2, size / 2 + size * 0.05);
    }
    return canvas;
  }
}

/** A node in words, for screen readers and for the tooltip. */
export function inWords(node) {
  const parts = [node.name, node.state];
  if (node.standing !== '') parts.push(`${node.standing} in ${node.rollout}`);
  if (node.ready === 'False') parts.push('not Ready');
  if (node.cordoned === 'True') parts.push('cordoned');
  if (node.maintenance !== '') parts.push(node.maintenance);
  if (node.drift !== '') parts.push(`drifted: ${node.drift}`);
  if (node.error !== '') parts.push(node.error);
  return parts.join(', ');
}
