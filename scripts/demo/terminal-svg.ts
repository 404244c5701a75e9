import { COLUMNS, COMMAND, ROWS, type TimedLine } from './recording.ts';

const LINE = 17;
const CHARACTER = 6.63;
const EDGE = 16;
const BAR = 30;
const WIDTH = Math.ceil(COLUMNS * CHARACTER) + 2 * EDGE;
const HEIGHT = BAR + ROWS * LINE + EDGE;
/** Minimum time per line, for reading, and maximum time without a new line. */
const LEAST_MS = 140;
const MOST_MS = 1_500;
/** Time for which the end is shown before the animation restarts. */
const HOLD_MS = 8_000;

const style = `
    text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
    .ground { fill: #f6f8fa; stroke: #d1d9e0 }
    .curtain { fill: #f6f8fa }
    .step { font-weight: 700 }
    .time { fill: #1a7f37 }
    .typed { fill: #0969da }
    .quiet { fill: #59636e }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .ground { fill: #151b23; stroke: #3d444d }
      .curtain { fill: #151b23 }
      .time { fill: #3fb950 }
      .typed { fill: #4493f8 }
      .quiet { fill: #9198a1 }
    }`;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Time at which each line is shown, in ms: as recorded, with pauses within the limits above. */
function shownAt(recorded: readonly TimedLine[]): number[] {
  let at = 0;
  let before = 0;
  return recorded.map(({ atMs }) => {
    at += Math.min(MOST_MS, Math.max(LEAST_MS, atMs - before));
    before = atMs;
    return at;
  });
}

/**
 * The recording as an animated picture: a terminal in which lines appear and scroll. Animated only by CSS, so that it plays
 * where scripts are forbidden. With reduced motion only the end is shown.
 */
export function terminalSvg(recorded: readonly TimedLine[]): string {
  const lines = [`$ ${COMMAND}`, ...recorded.map(({ line }) => line)];
  const times = [0, ...shownAt(recorded)];
  const total = (times.at(-1) ?? 0) + HOLD_MS;
  const scrolled = (count: number): number => -Math.max(0, count - ROWS) * LINE;
  const lowered = (count: number): number => Math.min(count, ROWS) * LINE;
  const frames = (name: string, offset: (count: number) => number): string => {
    const steps = times.map((ms, at) => `${Number(((ms / total) * 100).toFixed(2))}% { transform: translateY(${offset(at + 1)}px) }`);
    return `\n    @keyframes ${name} {\n      ${steps.join('\n      ')}\n    }`;
  };
  const moves = (name: string, offset: (count: number) => number): string =>
    `\n    .${name} { transform: translateY(${offset(lines.length)}px); animation: ${name} ${total / 1000}s step-end infinite }`;
  const motion = [frames('scroll', scrolled), frames('curtain', lowered), moves('scroll', scrolled), moves('curtain', lowered)].join('');
  const still = '\n    @media (prefers-reduced-motion: reduce) { .scroll, .curtain { animation: none } }\n  ';
  const steps = lines.filter((line) => /^\d+\. /.test(line)).join('; ');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">
  <title id="title">A recording of ${COMMAND}</title>
  <desc id="desc">A terminal shows the demo line by line: ${escaped(steps)}.</desc>
  <style>${style}${motion}${still}</style>
  <rect class="ground" x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
  <clipPath id="screen"><rect y="${BAR - LINE + 4}" width="${WIDTH}" height="${ROWS * LINE}"/></clipPath>
  <g clip-path="url(#screen)">
    <g class="scroll">
${lines.map((line, at) => textOf(line, BAR + at * LINE)).join('')}    </g>
    <rect class="curtain" x="1" y="${BAR - LINE + 4}" width="${WIDTH - 2}" height="${ROWS * LINE}"/>
  </g>
</svg>
`;
}

/** Nothing for an empty line. */
function textOf(line: string, y: number): string {
  const text = line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line;
  if (text === '') return '';
  const [, time = '', rest = ''] = /^( *\d+\.\d\d s)( {2}.*)$/.exec(text) ?? [];
  const content = time === '' ? escaped(text) : `<tspan class="time">${time}</tspan>${escaped(rest)}`;
  const kind = /^\d+\. /.test(text) ? 'step' : /^ *\$ /.test(text) ? 'typed' : /^ {10}event /.test(text) ? 'quiet' : '';
  return `      <text x="${EDGE}" y="${y}"${kind === '' ? '' : ` class="${kind}"`} xml:space="preserve">${content}</text>\n`;
}
