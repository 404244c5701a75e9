/** Makes an element: `make('p', {class: 'x', hidden: true}, 'text', child)`. Attributes and children that are undefined or false are left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false && child !== ''));
  return element;
}

/** A command; a click copies it. */
export function command(text) {
  const said = make('span', { class: 'copied' });
  const copy = async () => {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    said.textContent = done ? 'copied' : 'select and copy it';
    setTimeout(() => (said.textContent = ''), 2_000);
  };
  return make('button', { type: 'button', class: 'command', title: 'copy', onclick: copy }, make('code', {}, text), said);
}

const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const days = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short' });

/** `14:03:09`, with the day unless it is today. */
export function clockTime(rfc3339) {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return '';
  const time = times.format(at);
  return at.toDateString() === new Date().toDateString() ? time : `${days.format(at)} ${time}`;
}

/** A span in ms as `2m` or `3h 20m`. */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60 === 0 ? '' : ` ${seconds % 60}s`}`;
  return `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? '' : ` ${minutes % 60}m`}`;
}

// Created once: toLocaleString and the like create a formatter at each call.
const numbers = new Intl.NumberFormat('en-US');
export const count = (number) => numbers.format(number);
