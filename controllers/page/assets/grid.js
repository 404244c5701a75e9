import { grouped, passes } from './fleet.js';
import { count, make } from './dom.js';
import { Cells, inWords } from './look.js';

const SIZES = [26, 22, 18, 16, 14, 12, 10];
const FLASH_MS = 700;
/** With more changes at once, single nodes do not flash. */
const MOST_FLASHES = 200;

/**
 * The nodes, a canvas for each group. Draws at most once per frame, and only what changed.
 * @param on - `open` is called with the name of a node that is clicked or chosen by Enter
 */
export class Grid {
  #fleet;
  #on;
  #root = document.getElementById('fleet');
  #tip = document.getElementById('tip');
  #cells = new Cells();
  #groups = [];
  /** The position of each node: its group and its place in the group. */
  #places = new Map();
  #columns = 1;
  /** Width that cells were placed in, in CSS pixels. */
  #width = 0;
  #filter = { words: [], states: new Set(), standings: new Set() };
  #by = 'zone';
  #current;
  #selected;
  #flashes = new Map();
  #dirty = new Set();
  #layoutDue = false;
  #frame = 0;
  #turn = false;
  #calm = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(fleet, on) {
    this.#fleet = fleet;
    this.#on = on;
    this.#cells.readColours();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#cells.readColours();
      this.#layout();
    });
    new ResizeObserver(([{ contentRect }]) => {
      // Only the width matters: the layout itself sets the height.
      if (contentRect.width !== this.#width) this.#layout();
    }).observe(document.getElementById('groups'));
    addEventListener('resize', () => this.#layout());
    const root = this.#root;
    root.addEventListener('click', (event) => this.#clicked(event));
    root.addEventListener('mousemove', (event) => this.#hover(event));
    root.addEventListener('mouseleave', () => (this.#tip.hidden = true));
    root.addEventListener('keydown', (event) => this.#key(event));
    root.addEventListener('focus', () => this.#move(this.#current ?? this.#first()));
    root.addEventListener('blur', () => this.#redrawCurrent());
  }

  get cells() {
    return this.#cells;
  }

  groupBy(by) {
    this.#by = by;
    this.#layout();
  }

  filter(filter) {
    this.#filter = filter;
    for (const group of this.#groups) this.#dirtyGroup(group);
  }

  select(name) {
    const before = this.#selected;
    this.#selected = name;
    if (name !== undefined) this.#current = name;
    this.#redraw([before, name]);
  }

  focus() {
    this.#root.focus();
  }

  /** Applies what a message changed. */
  changed({ reordered, changed, full }) {
    if (!full && !this.#calm.matches && changed.length <= MOST_FLASHES) {
      const until = performance.now() + FLASH_MS;
      for (const name of changed) this.#flashes.set(name, until);
    }
    if (reordered) this.#layout();
    else this.#redraw(changed);
  }

  #layout() {
    this.#layoutDue = true;
    this.#request();
  }

  #redraw(names) {
    for (const name of names) if (name !== undefined) this.#dirty.add(name);
    this.#request();
  }

  #dirtyGroup(group) {
    group.whole = true;
    this.#request();
  }

  #redrawCurrent() {
    this.#redraw([this.#current]);
  }

  #request() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    if (this.#layoutDue) this.#place();
    this.#layoutDue = false;
    const now = performance.now();
    const done = this.#dirty;
    this.#dirty = new Set();
    const heads = new Set();
    for (const name of done) {
      const place = this.#places.get(name);
      if (place === undefined) continue;
      heads.add(place.group);
      if (!place.group.whole) this.#drawCell(place, name, now);
    }
    for (const group of this.#groups) {
      if (!group.whole) continue;
      group.whole = false;
      heads.add(group);
      group.on.clearRect(0, 0, group.canvas.width, group.canvas.height);
      for (const [at, name] of group.names.entries()) this.#drawCell({ group, at }, name, now, true);
    }
    for (const group of heads) this.#head(group);
    for (const [name, until] of this.#flashes) {
      if (until <= now) this.#flashes.delete(name);
      const place = this.#places.get(name);
      if (place !== undefined && !done.has(name)) this.#drawCell(place, name, now);
    }
    if (this.#flashes.size > 0) this.#request();
  }

  /** Puts nodes into groups, and chooses the size of cells: the largest at which all cells are visible at once, if there is one. */
  #place() {
    const groups = grouped(this.#fleet.nodes.values(), this.#by);
    const holder = document.getElementById('groups');
    const width = holder.clientWidth;
    this.#width = width;
    const room = Math.max(320, window.innerHeight * 0.72);
    const height = (size) =>
      groups.reduce((sum, { names }) => sum + 34 + Math.ceil(names.length / Math.max(1, Math.floor(width / size))) * size, 0);
    const size = SIZES.find((one) => height(one) <= room) ?? SIZES.at(-1);
    const scale = window.devicePixelRatio || 1;
    this.#cells.resize(size, scale);
    this.#columns = Math.max(1, Math.floor(width / size));
    const known = new Map(this.#groups.map((group) => [group.key, group]));
    this.#places.clear();
    this.#groups = groups.map(({ key, names }) => {
      const group = known.get(key) ?? newGroup(key);
      known.delete(key);
      group.names = names;
      group.whole = true;
      const rows = Math.ceil(names.length / this.#columns);
      const [w, h] = [this.#columns * size, rows * size];
      group.canvas.width = Math.round(w * scale);
      group.canvas.height = Math.round(h * scale);
      group.canvas.style.width = `${w}px`;
      group.canvas.style.height = `${h}px`;
      for (const [at, name] of names.entries()) this.#places.set(name, { group, at });
      return group;
    });
    for (const { section } of known.values()) section.remove();
    for (const [at, { section }] of this.#groups.entries())
      if (holder.children[at] !== section) holder.insertBefore(section, holder.children[at] ?? null);
    if (this.#current !== undefined && !this.#places.has(this.#current)) this.#current = undefined;
    document.getElementById('empty').hidden = this.#places.size > 0;
  }

  #drawCell({ group, at }, name, now, isClear = false) {
    const node = this.#fleet.nodes.get(name);
    if (node === undefined) return;
    const { size, scale } = this.#cells;
    const { on } = group;
    const side = Math.round(size * scale);
    const [x, y] = [(at % this.#columns) * size * scale, Math.floor(at / this.#columns) * size * scale];
    if (!isClear) on.clearRect(x, y, side, side);
    on.globalAlpha = passes(node, this.#filter) ? 1 : 0.13;
    on.drawImage(this.#cells.of(node), x, y);
    if (node.ready === 'False') this.#cells.strike(on, size * scale, x, y);
    on.globalAlpha = 1;
    const flash = ((this.#flashes.get(name) ?? 0) - now) / FLASH_MS;
    if (flash > 0) {
      on.globalAlpha = flash * 0.75;
      on.fillStyle = this.#cells.colour('paper');
      on.fillRect(x, y, side, side);
      on.globalAlpha = 1;
    }
    const isCurrent = name === this.#current && document.activeElement === this.#root;
    if (!isCurrent && name !== this.#selected) return;
    on.strokeStyle = this.#cells.colour(isCurrent ? 'focus' : 'text');
    on.lineWidth = 2 * scale;
    on.strokeRect(x + scale, y + scale, side - 2 * scale, side - 2 * scale);
  }

  #head(group) {
    let troubled = 0;
    let settled = 0;
    for (const name of group.names) {
      const node = this.#fleet.nodes.get(name);
      if (node === undefined) continue;
      if (node.troubled) troubled++;
      if (node.standing === 'settled') settled++;
    }
    const { title, facts } = group;
    title.textContent =
      this.#by === '' ? 'all nodes' : group.key === '' ? `without ${this.#by === 'kubeletVersion' ? 'version' : this.#by}` : group.key;
    const parts = [count(group.names.length)];
    if (settled > 0) parts.push(`${count(settled)} settled`);
    facts.replaceChildren(
      parts.join(' · '),
      ...(troubled > 0 ? [' · ', make('b', { class: 'bad' }, `${count(troubled)} with problems`)] : []),
    );
  }

  #hit({ clientX, clientY, target }) {
    const group = this.#groups.find(({ canvas }) => canvas === target);
    if (group === undefined) return undefined;
    const box = group.canvas.getBoundingClientRect();
    const { size } = this.#cells;
    const column = Math.floor((clientX - box.left) / size);
    return column < this.#columns ? group.names[Math.floor((clientY - box.top) / size) * this.#columns + column] : undefined;
  }

  #clicked(event) {
    const name = this.#hit(event);
    if (name === undefined) return;
    this.#move(name);
    this.#on.open(name);
  }

  #hover(event) {
    const node = this.#fleet.nodes.get(this.#hit(event) ?? '');
    this.#tip.hidden = node === undefined;
    if (node === undefined) return;
    this.#tip.textContent = inWords(node);
    const x = Math.min(event.clientX + 14, window.innerWidth - this.#tip.offsetWidth - 8);
    const below = event.clientY + 18 + this.#tip.offsetHeight < window.innerHeight;
    this.#tip.style.transform = `translate(${Math.max(8, x)}px, ${below ? event.clientY + 18 : event.clientY - 8 - this.#tip.offsetHeight}px)`;
  }

  #isShown(name) {
    return passes(this.#fleet.nodes.get(name), this.#filter);
  }

  #first() {
    for (const { names } of this.#groups) for (const name of names) if (this.#isShown(name)) return name;
    return undefined;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === 'Enter' || key === ' ') {
      if (this.#current !== undefined) this.#on.open(this.#current);
    } else {
      const next = this.#next(key);
      if (next === undefined) return;
      this.#move(next);
    }
    event.preventDefault();
  }

  /** The node that a key moves to; only nodes that pass the filter. */
  #next(key) {
    const all = this.#groups.flatMap(({ names }) => names);
    const place = this.#places.get(this.#current ?? '');
    if (key === 'Home' || (place === undefined && key.startsWith('Arrow'))) return this.#first();
    if (key === 'End') return all.findLast((name) => this.#isShown(name));
    if (place === undefined) return undefined;
    if (key === 'ArrowRight' || key === 'ArrowLeft') {
      const step = key === 'ArrowRight' ? 1 : -1;
      for (let at = all.indexOf(this.#current) + step; at >= 0 && at < all.length; at += step) if (this.#isShown(all[at])) return all[at];
      return this.#current;
    }
    const rows = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[key];
    if (rows === undefined) return undefined;
    return this.#vertical(place, rows) ?? this.#current;
  }

  /** Moves down or up in the same column, past the end of a group into the next. */
  #vertical({ group, at }, rows) {
    const column = at % this.#columns;
    const lines = this.#groups.flatMap((one) =>
      Array.from({ length: Math.ceil(one.names.length / this.#columns) }, (_, row) => ({ one, row })),
    );
    const from = lines.findIndex(({ one, row }) => one === group && row === Math.floor(at / this.#columns));
    const step = Math.sign(rows);
    let found;
    for (let line = from + step, left = Math.abs(rows); line >= 0 && line < lines.length && left > 0; line += step) {
      const { one, row } = lines[line];
      const name = one.names[Math.min(row * this.#columns + column, one.names.length - 1)];
      if (!this.#isShown(name)) continue;
      found = name;
      left--;
    }
    return found;
  }

  #move(name) {
    if (name === undefined) return;
    const before = this.#current;
    this.#current = name;
    this.#redraw([before, name]);
    this.#say(name);
    const place = this.#places.get(name);
    if (place === undefined) return;
    const { size } = this.#cells;
    const top = place.group.canvas.getBoundingClientRect().top + Math.floor(place.at / this.#columns) * size;
    if (top < 60) window.scrollBy({ top: top - 120 });
    else if (top + size > window.innerHeight) window.scrollBy({ top: top + size - window.innerHeight + 60 });
  }

  /** Alternates between two option elements: a screen reader speaks when another option becomes active. */
  #say(name) {
    const node = this.#fleet.nodes.get(name);
    if (node === undefined) return;
    this.#turn = !this.#turn;
    const option = document.getElementById(this.#turn ? 'cell-a' : 'cell-b');
    option.textContent = inWords(node);
    option.setAttribute('aria-selected', String(name === this.#selected));
    option.setAttribute('aria-setsize', String(this.#places.size));
    let before = 0;
    const place = this.#places.get(name);
    for (const group of this.#groups) {
      if (group === place.group) break;
      before += group.names.length;
    }
    option.setAttribute('aria-posinset', String(before + place.at + 1));
    this.#root.setAttribute('aria-activedescendant', option.id);
  }
}

function newGroup(key) {
  const canvas = make('canvas', { 'aria-hidden': 'true' });
  const title = make('h3');
  const facts = make('p');
  const section = make('div', { class: 'group' }, make('div', { class: 'group-head' }, title, facts), canvas);
  return { key, canvas, on: canvas.getContext('2d'), section, title, facts, names: [], whole: true };
}
