import { clockTime, command, count, make, span } from './dom.js';
import { states, standings } from './look.js';
import { conditions, details, facts } from './rollouts.js';

/** The panel of one node. Its details are requested when it is opened, and again when the node changes. */
export class Panel {
  #root = document.getElementById('panel');
  #close;
  #name;
  #asked = 0;
  /** The last details of the node. */
  #detail;

  constructor(close) {
    this.#close = close;
    this.#root.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close();
    });
  }

  get name() {
    return this.#name;
  }

  open(node, cell) {
    if (this.#name !== node.name) this.#detail = undefined;
    this.#name = node.name;
    this.#root.hidden = false;
    this.#root.setAttribute('aria-label', `Node ${node.name}`);
    this.show(node, cell);
  }

  hide() {
    this.#name = this.#detail = undefined;
    this.#root.hidden = true;
    this.#root.replaceChildren();
  }

  focus() {
    this.#root.focus();
  }

  /** @param cell - a picture of the node, as in the grid */
  show(node, cell) {
    const { name, state, standing, rollout, error } = node;
    cell.classList.add('cell');
    const had = this.#root.contains(document.activeElement);
    const end =
      node.trialEndsAt === ''
        ? ''
        : `; the trial ends in ${span(Date.parse(node.trialEndsAt) - Date.now())}, at ${clockTime(node.trialEndsAt)}`;
    const opened = this.#openDetails();
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
      configurations(node),
      make('div', { id: 'close-look' }, ...this.#closeLook()),
      details(
        'The node',
        facts([
          ['Ready', `${node.ready === '' ? 'unknown' : node.ready}${node.cordoned === 'True' ? ', cordoned' : ''}`],
          ...(node.maintenance === '' ? [] : [['maintenance', node.maintenance]]),
          ['kubelet', node.kubeletVersion === '' ? 'unknown' : node.kubeletVersion],
          ['agent', node.agentVersion === '' ? 'unknown' : node.agentVersion],
          ['zone', node.zone === '' ? 'none' : node.zone],
          ['pool', node.pool === '' ? 'none' : node.pool],
        ]),
        true,
      ),
      details('Commands', make('div', { class: 'commands' }, make('h3', {}, 'On the node'), command('dkc status'), command('dkc why'), make('h3', {}, 'From anywhere'), command(`kubectl get nodeconfig ${name} -o yaml`), ...(rollout === '' ? [] : [command(`dkc rollout diff ${rollout}`)]))), // prettier-ignore
    );
    this.#reopen(opened);
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
    this.#detail = answer ?? null;
    const opened = this.#openDetails();
    document.getElementById('close-look').replaceChildren(...this.#closeLook());
    this.#reopen(opened);
  }

  #closeLook() {
    const detail = this.#detail;
    if (detail === undefined) return [make('p', { class: 'quiet' }, 'loading details')];
    if (detail === null) return [make('p', { class: 'quiet' }, 'details are not available now')];
    return [
      drift(detail),
      findings(detail),
      diff(detail),
      history(detail),
      revisions(detail),
      details('Conditions', conditions(detail.conditions)),
    ].filter((part) => part !== '');
  }

  /** By title, so that each section stays open or closed as the reader left it. */
  #openDetails() {
    return new Map([...this.#root.querySelectorAll('details')].map((one) => [titleOf(one), one.open]));
  }

  #reopen(opened) {
    for (const one of this.#root.querySelectorAll('details')) one.open = opened.get(titleOf(one)) ?? one.open;
  }
}

/** The title without its number. */
const titleOf = (one) => one.firstChild.firstChild.textContent;

/** The four configurations of a node; equal ones are shown together. */
function configurations({ wanted, assigned, active, lastKnownGood, trialEndsAt }) {
  const rows = [
    ['wanted', wanted],
    ['assigned', assigned],
    ['active', active],
    ['last known good', lastKnownGood],
  ];
  const plain = (text) => text.replace(/@[^@]*$/, '');
  const items = rows.map(([name, text]) =>
    make(
      'li',
      { class: plain(text) === plain(wanted) ? 'wanted' : 'other' },
      make('span', { class: 'role' }, name),
      make('span', { class: 'source', title: text }, shortOf(text), name === 'active' && trialEndsAt !== '' ? make('i', {}, ` on trial until ${clockTime(trialEndsAt)}`) : ''), // prettier-ignore
    ),
  );
  return make('ul', { class: 'configs', 'aria-label': 'Configurations' }, ...items);
}

/** `web-6f9c2b81 @4711` of `dkc-system/web-6f9c2b81:kubelet@4711`; the title has the full text. */
function shortOf(text) {
  const [, name, version] = /^[^/]*\/([^:]*):[^@]*(?:@(.*))?$/.exec(text) ?? [];
  return name === undefined ? text : `${name}${version === undefined ? '' : ` @${version}`}`;
}

function drift({ drift }) {
  if (drift === null) return '';
  const { reason, message, since } = drift;
  return make('p', { class: 'error drift' }, make('b', {}, `Drifted: ${reason}`), ` ${message} `, make('span', { class: 'quiet' }, since === '' ? '' : `since ${clockTime(since)}`)); // prettier-ignore
}

const finders = { preflight: 'validation for its kubelet', rollout: 'rollout', agent: 'agent' };

function findings({ findings }) {
  if (findings.length === 0) return '';
  const items = findings.map(({ by, text, at }) =>
    make('li', {}, make('b', {}, `${finders[by] ?? by}: `), text, ' ', make('time', { class: 'quiet' }, clockTime(at))),
  );
  return details('Findings', make('ul', { class: 'list bad-list' }, ...items), true, findings.length);
}

const effects = { none: 'nothing changes', restart: 'restarts the kubelet', drain: 'drains the node, then restarts the kubelet' };
const effectsLast = {
  none: 'nothing changed',
  restart: 'needed a restart of the kubelet',
  drain: 'needed a drain and a restart of the kubelet',
};

function diff({ diff }) {
  if (diff === null) return '';
  const { kind, from, to, effect, fields, omitted, problem } = diff;
  const title = kind === 'pending' ? 'What will change' : 'What has changed';
  const names = `${from === 'local' ? 'local (compared as empty)' : shortOf(from)} → ${to === 'local' ? 'local (compared as empty)' : shortOf(to)}`;
  const head = make('p', { class: 'quiet' }, names);
  if (problem !== '') return details(title, make('div', {}, head, make('p', {}, problem)), true);
  const says = kind === 'pending' ? effects[effect] : effectsLast[effect];
  const rows = fields.map(
    ({ field, class: of, change }) =>
    make('tr', {}, make('td', {}, field), make('td', {}, make('span', { class: 'tag', 'data-class': of }, of)), make('td', { class: 'quiet' }, change)), // prettier-ignore
  );
  const body = make(
    'div',
    { class: 'diff' },
    head,
    make('p', {}, make('b', { class: `effect ${effect}` }, says)),
    rows.length === 0 ? '' : make('table', {}, make('thead', {}, make('tr', {}, ...['field', 'class', 'change'].map((name) => make('th', { scope: 'col' }, name)))), make('tbody', {}, ...rows)), // prettier-ignore
    omitted > 0 ? make('p', { class: 'quiet' }, `and ${count(omitted)} more`) : '',
  );
  return details(title, body, true, fields.length + omitted);
}

function history({ history, historyProblem }) {
  if (historyProblem !== '') return details('History', make('p', { class: 'quiet' }, historyProblem), true);
  if (history.length === 0)
    return details('History', make('p', { class: 'quiet' }, 'no events about this node; the API server keeps them for an hour'));
  const items = history.map(({ at, type, reason, message, count: times }) =>
    make(
      'li',
      { class: type === 'Warning' ? 'failure' : '' },
      make('time', { datetime: at }, clockTime(at)),
      make('span', {}, make('b', {}, reason), times > 1 ? ` ×${count(times)}` : '', ` ${message}`),
    ),
  );
  return details('History', make('ol', { class: 'timeline' }, ...items), true, history.length);
}

const uses = { active: 'active here', assigned: 'assigned here', 'last-known-good': 'last known good here', '': '' };

function revisions({ revisions }) {
  if (revisions.length === 0) return '';
  const items = revisions.map(({ number, name, createdAt, role, node }) =>
    make(
      'li',
      { class: node === 'active' ? 'settled' : '' },
      make('b', {}, `#${number}`),
      make('span', {}, `${name} `, make('span', { class: 'quiet' }, [role, uses[node], clockTime(createdAt)].filter((one) => one !== '').join(' · '))), // prettier-ignore
    ),
  );
  return details('Revisions', make('ol', { class: 'timeline' }, ...items), false, revisions.length);
}
