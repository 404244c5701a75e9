import { count, make } from './dom.js';
import { Fleet } from './fleet.js';
import { Grid } from './grid.js';
import { standings, states } from './look.js';
import { Panel } from './panel.js';
import { Rollouts, tones } from './rollouts.js';
import { follow } from './stream.js';

const fleet = new Fleet();
const element = (id) => document.getElementById(id);
const filter = { words: [], states: new Set(), standings: new Set() };
const grid = new Grid(fleet, { open: (name) => open(name, true) });
const panel = new Panel(close);
const rollouts = new Rollouts((name) => open(name, true));
const phases = new Map();
let isFirst = true;

function cellOf(node, size = 18) {
  return grid.cells.draw(node, size, window.devicePixelRatio || 1);
}

function open(name, takesFocus) {
  const node = fleet.nodes.get(name);
  if (node === undefined) return;
  panel.open(node, cellOf(node));
  grid.select(name);
  remember();
  if (takesFocus) panel.focus();
}

function close() {
  panel.hide();
  grid.select(undefined);
  remember();
  grid.focus();
}

/** The address holds the view: it can be shared, and survives a reload. */
function remember() {
  const words = new URLSearchParams();
  if (grouping() !== 'zone') words.set('group', grouping());
  if (element('filter').value !== '') words.set('q', element('filter').value);
  if (filter.states.size > 0) words.set('state', [...filter.states].join(','));
  if (filter.standings.size > 0) words.set('standing', [...filter.standings].join(','));
  if (panel.name !== undefined) words.set('node', panel.name);
  history.replaceState(null, '', `#${words}`);
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  const group = words.get('group');
  const choice = element('grouping').querySelector(`input[value="${CSS.escape(group ?? 'zone')}"]`);
  if (choice !== null) choice.checked = true;
  element('filter').value = words.get('q') ?? '';
  for (const name of words.get('state')?.split(',') ?? []) if (Object.hasOwn(states, name)) filter.states.add(name);
  for (const name of words.get('standing')?.split(',') ?? []) if (Object.hasOwn(standings, name)) filter.standings.add(name);
  return words.get('node');
}

const grouping = () => element('grouping').querySelector('input:checked')?.value ?? 'zone';

function refilter() {
  filter.words = element('filter')
    .value.toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  grid.filter(filter);
  legend();
  remember();
}

/** Buttons of states and standings with their counts; each filters. */
function legend() {
  const { counts } = fleet;
  chips(element('states'), Object.keys(states), counts.state, filter.states, (state) => ({ sample: { state }, says: states[state].says }));
  chips(element('standings'), Object.keys(standings), counts.standing, filter.standings, (standing) => ({
    sample: { state: standing === 'no-agent' ? 'no-agent' : standing === 'in-flight' ? 'pending' : 'trusted', standing },
    says: standings[standing],
  }));
}

function chips(root, names, counts, chosen, describe) {
  const known = new Map([...root.children].map((chip) => [chip.dataset.name, chip]));
  for (const name of names) {
    const number = counts[name] ?? 0;
    let chip = known.get(name);
    if (number === 0 && !chosen.has(name)) {
      chip?.remove();
      continue;
    }
    if (chip === undefined) {
      const { sample, says } = describe(name);
      const toggle = () => {
        if (!chosen.delete(name)) chosen.add(name);
        refilter();
      };
      chip = make('button', { type: 'button', class: 'chip', 'data-name': name, title: says, onclick: toggle }, cellOf(sample, 16), make('span', {}, name), make('b', {})); // prettier-ignore
      const after = new Set(names.slice(names.indexOf(name) + 1));
      root.insertBefore(chip, [...root.children].find((one) => after.has(one.dataset.name)) ?? null);
    }
    chip.setAttribute('aria-pressed', String(chosen.has(name)));
    const text = count(number);
    if (chip.lastChild.textContent !== text) chip.lastChild.textContent = text;
  }
}

function summary() {
  const { troubled, unready } = fleet.counts;
  const parts = [
    `${count(fleet.nodes.size)} nodes`,
    troubled > 0 ? `${count(troubled)} with problems` : '',
    unready > 0 ? `${count(unready)} not Ready` : '',
  ];
  element('summary').textContent = parts.filter((part) => part !== '').join(' · ');
  const active = [...fleet.rollouts.values()].find(({ phase }) => phase !== 'Complete');
  headline(active);
  const title = [troubled > 0 ? `(${count(troubled)}) ` : '', active === undefined ? '' : `${active.name} ${active.phase} · `, 'Fleet'];
  document.title = title.join('');
}

/** The running rollout, readable from across a room. */
function headline(rollout) {
  const shown = element('headline');
  if (rollout === undefined) {
    shown.textContent = '';
    return;
  }
  const { name, phase, step, steps, nodes } = rollout;
  const share = Math.floor((100 * nodes.settled) / Math.max(1, nodes.selected));
  const text = `${name}: ${phase}, step ${count(step)} of ${count(steps.length)}, ${share}%`;
  if (shown.textContent === text) return;
  shown.dataset.tone = tones[phase] ?? 'busy';
  shown.textContent = text;
}

/** For screen readers: phases, and nothing that changes every second. */
function announce() {
  const news = [];
  for (const { name, phase, message } of fleet.rollouts.values()) {
    if (phases.has(name) && phases.get(name) !== phase) news.push(`Rollout ${name} is ${phase}. ${message}`);
    phases.set(name, phase);
  }
  if (news.length > 0) element('live').textContent = news.join(' ');
}

function take(message) {
  const changes = fleet.apply(message);
  grid.changed({ ...changes, full: message.full });
  if (changes.rollouts) {
    rollouts.show(fleet.rollouts);
    announce();
  }
  if (changes.changed.length > 0 || changes.reordered) legend();
  summary();
  if (panel.name !== undefined && (message.full || changes.changed.includes(panel.name))) {
    const node = fleet.nodes.get(panel.name);
    if (node === undefined) close();
    else panel.show(node, cellOf(node));
  }
  if (!isFirst) return;
  isFirst = false;
  if (asked !== null) open(asked, false);
  performance.mark('first-picture');
}

let staleSince = '';

/** @param why - why the page is not live, if that is known */
function connection(state, why = '') {
  if (state !== 'stale') staleSince = '';
  else if (staleSince === '') staleSince = new Date().toLocaleTimeString('en-GB');
  const texts = { live: 'live', connecting: 'connecting', stale: `stale since ${staleSince}, reconnecting` };
  const shown = element('connection');
  const text = `${texts[state]}${why === '' ? '' : `: ${why}`}`;
  if (shown.textContent === text) return;
  shown.dataset.state = document.body.dataset.state = state;
  shown.textContent = text;
}

/** Shows an error of the page itself, because users do not have the console open. */
function failed(message) {
  const banner = element('problem');
  banner.hidden = false;
  banner.textContent = `This page has an error and may show outdated data: ${message}. Reload it.`;
}
addEventListener('error', ({ message }) => failed(message));
addEventListener('unhandledrejection', ({ reason }) => failed(String(reason?.message ?? reason)));

const asked = recall();
element('toolbar').addEventListener('submit', (event) => event.preventDefault());
element('filter').addEventListener('input', refilter);
element('grouping').addEventListener('change', () => {
  grid.groupBy(grouping());
  remember();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'search';
  if (event.key === '/' && !isTyping) {
    element('filter').focus();
    event.preventDefault();
  } else if (event.key === 'Escape' && isTyping) {
    if (event.target.value === '') grid.focus();
  } else if (event.key === 'Escape' && panel.name !== undefined) close();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const root of [element('states'), element('standings')]) root.replaceChildren();
  legend();
  const node = fleet.nodes.get(panel.name ?? '');
  if (node !== undefined) panel.show(node, cellOf(node));
});
grid.groupBy(grouping());
refilter();
follow('fleet/events', { message: take, state: connection });
