import { compareNames } from './fleet.js';
import { clockTime, command, count, make, span } from './dom.js';

/** How phases look. */
export const tones = {
  Complete: 'good',
  Progressing: 'busy',
  Holding: 'wait',
  Pending: 'wait',
  Paused: 'wait',
  RollingBack: 'bad',
  RolledBack: 'bad',
  Failed: 'bad',
};

/** Shows rollouts as cards; a card is drawn again only when its rollout changed, and its open sections stay open. */
export class Rollouts {
  #root = document.getElementById('rollouts');
  #cards = new Map();
  #open;

  /** @param open - called with the name of a node that is clicked */
  constructor(open) {
    this.#open = open;
  }

  show(rollouts) {
    // Running rollouts come first.
    const isDone = (name) => rollouts.get(name).phase === 'Complete';
    const names = [...rollouts.keys()].sort((a, b) => isDone(a) - isDone(b) || compareNames(a, b));
    for (const [name, { card }] of this.#cards) {
      if (rollouts.has(name)) continue;
      card.remove();
      this.#cards.delete(name);
    }
    for (const name of names) {
      const rollout = rollouts.get(name);
      const known = this.#cards.get(name);
      if (known?.rollout === rollout) continue;
      const card = cardOf(rollout, this.#open);
      if (known !== undefined) {
        const isOpen = [...known.card.querySelectorAll('details')].map((one) => one.open);
        for (const [at, one] of card.querySelectorAll('details').entries()) if (isOpen[at] !== undefined) one.open = isOpen[at];
        known.card.replaceWith(card);
      }
      this.#cards.set(name, { rollout, card });
    }
    for (const [at, name] of names.entries()) {
      const { card } = this.#cards.get(name);
      if (this.#root.children[at] !== card) this.#root.insertBefore(card, this.#root.children[at] ?? null);
    }
    if (names.length === 0) this.#root.replaceChildren(make('p', { class: 'quiet' }, 'No NodeConfigRollout.'));
    else this.#root.querySelector(':scope > .quiet')?.remove();
  }
}

function cardOf(rollout, open) {
  const { name, phase, message, nodes, configMap, revision, stopped } = rollout;
  return make(
    'article',
    { class: 'card rollout', 'aria-label': `Rollout ${name}`, 'data-tone': tones[phase] ?? 'wait' },
    make('div', { class: 'row' }, make('h3', {}, name), make('span', { class: 'phase' }, phase === '' ? 'Pending' : phase)),
    make('p', { class: 'quiet config', title: revision }, configMap, revision === '' ? '' : ` → ${revision}`),
    bar(rollout),
    make(
      'p',
      { class: 'numbers' },
      `${count(nodes.settled)} of ${count(nodes.selected)} settled`,
      nodes.inFlight > 0 ? ` · ${count(nodes.inFlight)} in flight` : '',
      nodes.failed > 0 ? make('b', { class: 'bad' }, ` · ${count(nodes.failed)} failed`) : '',
      nodes.refused > 0 ? make('b', { class: 'bad' }, ` · ${count(nodes.refused)} refused`) : '',
    ),
    steps(rollout),
    message === '' ? '' : make('p', { class: 'message' }, message),
    waiting(rollout),
    stopped === '' ? '' : command(`dkc rollout resume ${name}`),
    failures(rollout, open),
    details('Limits, windows and gates', limits(rollout)),
    details('Timeline', timeline(rollout), phase !== 'Complete'),
    details('Conditions', conditions(rollout.conditions)),
  );
}

function bar({ nodes: { selected, settled, inFlight, failed } }) {
  const of = Math.max(1, selected);
  const label = `${settled} settled, ${inFlight} in flight, ${failed} failed of ${selected}`;
  const part = (kind, value) => {
    const element = make('i', { class: kind });
    element.style.width = `${(100 * value) / of}%`;
    return element;
  };
  return make('div', { class: 'bar', role: 'img', 'aria-label': label }, part('settled', settled), part('in-flight', inFlight), part('failed', Math.min(failed, Math.max(0, selected - settled - inFlight)))); // prettier-ignore
}

function steps({ steps, step, phase }) {
  const done = phase === 'Complete';
  const items = steps.map(({ nodes, target, holdMs, approve }, at) => {
    const state = done || at + 1 < step ? 'done' : at + 1 === step ? 'current' : 'next';
    const notes = [
      nodes === String(target) ? '' : `${count(target)} nodes`,
      holdMs > 0 ? `hold ${span(holdMs)}` : '',
      approve ? 'approval' : '',
    ].filter((note) => note !== '');
    return make(
      'li',
      { class: state, 'aria-current': state === 'current' ? 'step' : undefined },
      make('b', {}, nodes),
      ...notes.map((note) => make('small', {}, note)),
    );
  });
  return make('ol', { class: 'steps', 'aria-label': 'Steps' }, ...items);
}

function waiting({ name, waitsFor, nextWindow, step, paused }) {
  const parts = [];
  if (waitsFor !== '')
    parts.push(make('p', { class: 'waits' }, `waits for ${waitsFor}`, waitsFor === 'Approval' ? ` of step ${step}` : ''));
  if (nextWindow !== '') parts.push(make('p', { class: 'quiet' }, `next window opens ${clockTime(nextWindow)}`));
  if (waitsFor === 'Approval') parts.push(command(`dkc rollout approve ${name}`));
  if (paused) parts.push(command(`dkc rollout resume ${name}`));
  return parts.length === 0 ? '' : make('div', { class: 'waiting' }, ...parts);
}

function failures({ failures }, open) {
  if (failures.length === 0) return '';
  const items = failures.map(
    ({ node, error, at }) =>
    make('li', {}, make('button', { type: 'button', class: 'link', onclick: () => open(node) }, node), make('span', {}, ` ${error} `), make('time', { class: 'quiet' }, clockTime(at))), // prettier-ignore
  );
  return details('Failed', make('ul', { class: 'list bad-list' }, ...items), true, failures.length);
}

function limits({ name, maxUnavailable, failureBudget, onFailure, drain, windows, gates, previousRevision, approvals }) {
  const pairs = [
    ['max unavailable', maxUnavailable],
    ['failure budget', failureBudget],
    ['on failure', onFailure],
    ['drain', drain],
    ['previous revision', previousRevision === '' ? 'local' : previousRevision],
    ...windows.map(({ schedule, duration, timeZone = 'UTC' }) => ['window', `${schedule} for ${duration}, ${timeZone}`]),
    ...gates.map(({ name, kind }) => ['gate', `${name}${kind === '' ? '' : ` (${kind})`}`]),
    ...approvals.map(({ step, by, at }) => ['approved', `step ${step} by ${by}, ${clockTime(at)}`]),
  ];
  return make('div', {}, facts(pairs), command(`dkc rollout status ${name}`), command(`dkc rollout pause ${name}`), command(`dkc rollout abort ${name}`)); // prettier-ignore
}

function timeline({ timeline }) {
  const items = timeline.map(({ at, kind, text }) =>
    make('li', { class: kind }, make('time', { datetime: at }, clockTime(at)), make('span', {}, text)),
  );
  return make('ol', { class: 'timeline' }, ...items);
}

export function facts(pairs) {
  return make('dl', { class: 'facts' }, ...pairs.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}

export function conditions(list) {
  const items = list.map(({ type, status, reason, message, lastTransitionTime, since = lastTransitionTime, of }) =>
    make(
      'li',
      { 'data-status': status },
      make('b', {}, `${type}=${status}`),
      make('span', {}, ` ${reason}${message === '' ? '' : `: ${message}`} `),
      make('span', { class: 'quiet' }, [of, clockTime(since ?? '')].filter((part) => part !== undefined && part !== '').join(', ')),
    ),
  );
  return make('ul', { class: 'list conditions' }, ...items);
}

/** @param number - count shown beside the title; undefined: none */
export function details(title, body, isOpen = false, number) {
  return make('details', { open: isOpen }, make('summary', {}, title, number === undefined ? '' : make('span', { class: 'number' }, count(number))), body); // prettier-ignore
}
