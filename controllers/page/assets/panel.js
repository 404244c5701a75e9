import { clockTime, command, make, span } from './dom.js';
import { states, standings } from './look.js';
import { conditions, facts } from './rollouts.js';

/** What is known of one node. Conditions are asked for when it is opened, and again when the node changes. */
export class Panel {
  #root = document.getElementById('panel');
  #close;
  #name;
  #asked = 0;

  constructor(close) {
    this.#close = close;
    this.#root.addEventListener('keydown', ({ key }) => key === 'Escape' && close());
  }

  get name() {
    return this.#name;
  }

  open(node, cell) {
    this.#name = node.name;
    this.#root.hidden = false;
    this.#root.setAttribute('aria-label', `Node ${node.name}`);
    this.show(node, cell);
  }

  hide() {
    this.#name = undefined;
    this.#root.hidden = true;
    this.#root.replaceChildren();
  }

  focus() {
    this.#root.focus();
  }

  /** @param cell - a picture of it, as it is in the grid */
  show(node, cell) {
    const { name, state, standing, rollout, error } = node;
    cell.classList.add('cell');
    const known = this.#root.querySelector('.conditions');
    const had = this.#root.contains(document.activeElement);
    const end =
      node.trialEndsAt === '' ? '' : ` (ends in ${span(Date.parse(node.trialEndsAt) - Date.now())}, ${clockTime(node.trialEndsAt)})`;
    const same = (text, other) => (text === other ? 'the same' : text);
    this.#root.replaceChildren(
      make(
        'div',
        { class: 'row' },
        make('h2', {}, name),
        make('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: this.#close }, '×'),
      ),
      make('p', { class: 'state' }, cell, make('b', {}, state), ` ${states[state]?.says ?? ''}${state === 'trial' ? end : ''}`),
      standing === '' ? '' : make('p', { class: 'quiet' }, make('b', {}, standing), ` in rollout ${rollout}: ${standings[standing] ?? ''}`),
      error === '' ? '' : make('p', { class: 'error' }, error),
      facts([
        ['wanted', node.wanted],
        ['assigned', same(node.assigned, node.wanted)],
        ['active', node.active],
        ['last known good', same(node.lastKnownGood, node.active)],
        ...(node.trialEndsAt === '' ? [] : [['trial', `until ${clockTime(node.trialEndsAt)}`]]),
        ['Ready', `${node.ready === '' ? 'unknown' : node.ready}${node.cordoned === 'True' ? ', cordoned' : ''}`],
        ...(node.maintenance === '' ? [] : [['maintenance', node.maintenance]]),
        ['kubelet', node.kubeletVersion === '' ? 'unknown' : node.kubeletVersion],
        ['agent', node.agentVersion === '' ? 'unknown' : node.agentVersion],
        ['zone', node.zone === '' ? 'none' : node.zone],
        ['pool', node.pool === '' ? 'none' : node.pool],
      ]),
      make('div', { id: 'conditions' }, known ?? make('p', { class: 'quiet' }, 'asking for conditions')),
      make('h3', {}, 'On the node'),
      command('dkc status'),
      command('dkc why'),
      make('h3', {}, 'From anywhere'),
      command(`kubectl get nodeconfig ${name} -o yaml`),
      ...(rollout === '' ? [] : [command(`dkc rollout status ${rollout}`)]),
    );
    if (had) this.#root.focus();
    void this.#ask(name);
  }

  async #ask(name) {
    const asked = ++this.#asked;
    const answer = await fetch(`fleet/nodes/${encodeURIComponent(name)}.json`).then(
      (response) => (response.ok ? response.json() : undefined),
      () => undefined,
    );
    if (asked !== this.#asked || this.#name !== name) return;
    const list = answer?.conditions ?? [];
    const holder = document.getElementById('conditions');
    holder.replaceChildren(
      make('h3', {}, 'Conditions'),
      list.length === 0 ? make('p', { class: 'quiet' }, answer === undefined ? 'not available' : 'none reported') : conditions(list),
    );
  }
}
