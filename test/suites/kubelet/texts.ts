import ingredients from './ingredients.json' with { type: 'json' };
import type { Random } from '../../../base/random.ts';
import { fields } from '../../../agent/config/fields/fields.ts';
import type { Field } from '../../../agent/config/fields/field.ts';

/** Scalars that YAML readers disagree on, and pieces that go together into a text or spoil it. */
const { QUIRKS, DURATIONS, NUMBERS, WORDS, ITEMS, KEYS, MAP_VALUES, GATES, TOP, TAILS, JSON_VALUES } = ingredients;

export const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

type Pick = <T>(from: readonly T[]) => T;

/** Endless configuration texts, good and bad, the same for the same source of chance. */
export function* generatedTexts(random: Random): Generator<string> {
  const pick: Pick = (from) => from[Math.floor(random() * from.length)] as (typeof from)[number];
  const chance = (share: number): boolean => random() < share;
  const known = fields.filter(({ since }) => since <= 20);
  // Three moods: mostly good values, mixed, and mostly quirks; the first finds differences of defaults and rules, the last of decoding.
  for (;;) yield chance(0.12) ? jsonText(random, pick, known) : yamlText(chance, pick, known, random, pick([0.003, 0.003, 0.03, 0.15]));
}

function yamlText(chance: (share: number) => boolean, pick: Pick, known: readonly Field[], random: Random, quirks: number): string {
  const count = Math.floor(random() * (chance(0.1) ? 40 : 6));
  const lines: string[] = [];
  const tree = new Map<string, string[]>();
  for (let n = 0; n < count; n++) {
    const field = chance(0.02) ? pick(fields) : pick(known);
    const [struct, ...rest] = field.name.split('.');
    const value = yamlValue(field, chance, pick, random, quirks);
    if (rest.length === 0)
      lines.push(
        `${spelled(field.name, chance, pick)}${chance(0.03) ? ' ' : ''}:${value === '' ? '' : chance(0.02) ? '   ' : ' '}${value}`,
      );
    else {
      const under = tree.get(struct ?? '') ?? [];
      tree.set(struct ?? '', under);
      if (under.some((line) => line.startsWith(`  ${rest[0] ?? ''}:`)) && rest.length > 1) continue;
      under.push(
        rest.length === 1
          ? `  ${spelled(rest[0] ?? '', chance, pick)}: ${indent(value, 2)}`
          : `  ${rest[0] ?? ''}:\n    ${spelled(rest[1] ?? '', chance, pick)}: ${indent(value, 4)}`,
      );
    }
  }
  for (const [struct, under] of tree)
    lines.push(`${struct}:${chance(0.03) ? pick([' {}', ' []', ' ~', ' x', '']) : `\n${under.join('\n')}`}`);
  if (chance(0.08))
    lines.push(
      `${pick(['unknown', 'maxpods', 'MaxPods', '"max pods"', '1', 'on', '~', '1.5', '<<', 'x-y', '{a: b}', '[a]', '? a\n', '__proto__', 'constructor'])}: ${pick([pick(QUIRKS), 'a', '{maxPods: 5}', '[{maxPods: 5}, {maxPods: 6}]'])}`,
    );
  if (chance(0.05) && lines.length > 0) lines.push(pick(lines));
  if (chance(0.03)) lines.push(`featureGates:\n  ${pick(GATES)}: ${pick(['true', 'false', 'on', '~', '1', '"true"'])}`);
  let header = HEADER;
  if (chance(0.04))
    header = pick([
      '',
      'apiVersion: kubelet.config.k8s.io/v1beta1\n',
      'kind: KubeletConfiguration\n',
      'apiVersion: v1\nkind: KubeletConfiguration\n',
      'Kind: KubeletConfiguration\napiversion: kubelet.config.k8s.io/v1beta1\n',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: 5\n',
      `${HEADER}Kind: x\n`,
      'apiVersion: ~\nkind: KubeletConfiguration\n',
      'apiVersion: "kubelet.config.k8s.io/v1beta1"\nkind: "KubeletConfiguration"\n',
    ]);
  const body = chance(0.1) ? [...lines, header.trimEnd()].join('\n') : header + lines.join('\n');
  const text = `${chance(0.08) ? pick(TOP) : ''}${body}\n${chance(0.1) ? pick(TAILS) : ''}`;
  return chance(0.02) ? text.replaceAll('\n', '\r\n') : text;
}

function spelled(name: string, chance: (share: number) => boolean, pick: Pick): string {
  if (chance(0.97)) return name;
  return pick([
    name.toLowerCase(),
    name.toUpperCase(),
    `"${name}"`,
    `'${name}'`,
    `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    `? ${name}\n`,
    `!!str ${name}`,
    `&k${name} ${name}`,
  ]);
}

function indent(value: string, by: number): string {
  return value.replaceAll('\n', `\n${' '.repeat(by)}`);
}

function yamlValue(field: Field, chance: (share: number) => boolean, pick: Pick, random: Random, quirks: number): string {
  if (chance(quirks)) return pick(QUIRKS);
  if (chance(1 - 5 * quirks)) return goodValue(field, pick, random);
  const { type } = field;
  const times = Math.floor(random() * 4);
  if (type === 'bool') return pick(['true', 'false', 'on', 'no', '~', '"true"', 'x', '0', 'true', 'false']);
  if (type === 'duration') return chance(0.5) ? pick(DURATIONS) : `"${pick(DURATIONS)}"`;
  if (type.startsWith('int')) return pick(NUMBERS);
  if (field.name === 'featureGates')
    return `{${Array.from({ length: times }, () => `${pick(GATES)}: ${pick(['true', 'false'])}`).join(', ')}}`;
  if (type.startsWith('list')) {
    const items = Array.from({ length: times }, () => pick(ITEMS));
    return chance(0.5) ? `[${items.join(', ')}]` : items.map((item) => `\n- ${item}`).join('');
  }
  if (type.startsWith('map')) {
    const entries = Array.from({ length: times }, () => `${pick(KEYS)}: ${pick(MAP_VALUES)}`);
    return chance(0.5) ? `{${entries.join(', ')}}` : entries.map((entry) => `\n  ${entry}`).join('');
  }
  return pick(WORDS);
}

const GOOD: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false', 'on', 'off', '~'],
  duration: ['0s', '1s', '10s', '1m30s', '100ms', '50ms', '500us', '2s', '-1s', '"1h"', '1.5h', '300s', '1us'],
  int: ['0', '1', '-1', '2', '31', '32', '80', '85', '100', '101', '110', '1000', '1001', '-1000', '10250', '65535', '65536', '~'],
};

/** A value of the right type; whether the rules like it is another matter. */
function goodValue(field: Field, pick: Pick, random: Random): string {
  const { type } = field;
  const times = Math.floor(random() * 4);
  const own = /^enum\((.*)\)$/.exec(type)?.[1]?.split('|');
  if (own !== undefined) return pick([...own, ...own, '""', 'x', '~']);
  if (type.startsWith('int')) return pick(GOOD['int'] ?? []);
  if (field.name === 'featureGates')
    return `{${Array.from({ length: times }, (_, n) => `${GATES[(n * 7 + times) % GATES.length]}: ${pick(['true', 'false'])}`).join(', ')}}`;
  if (field.name === 'staticPodURLHeader') return pick(['{}', '{a: [b]}', '{a: [], b: ~}', '\n  X-A:\n  - b\n  - ~']);
  if (type.startsWith('list'))
    return `[${Array.from({ length: times }, () => pick(['pods', 'none', 'system-reserved', 'kube-reserved', 'foo', '"10.0.0.1"', 'a', '~'])).join(', ')}]`;
  if (type.startsWith('map'))
    return `{${Array.from({ length: times }, (_, n) => `${KEYS[n]}: ${pick(['100Mi', '10%', '"1"', '~', 'x'])}`).join(', ')}}`;
  return pick(GOOD[type] ?? WORDS.filter((word) => word !== '1.19' && word !== '1.18'));
}

function jsonText(random: Random, pick: Pick, known: readonly Field[]): string {
  const parts = ['"apiVersion":"kubelet.config.k8s.io/v1beta1"', '"kind": "KubeletConfiguration"'];
  for (let n = Math.floor(random() * 5); n > 0; n--) {
    const field = random() < 0.1 ? 'unknown' : pick(known).name.split('.')[0];
    parts.push(`"${field}"${pick([':', ' : ', ':\n', ':\t'])}${pick(JSON_VALUES)}`);
  }
  return `${pick(['', '', ' ', '\n\t', '\u00a0'])}{${parts.join(pick([',', ', ', ',\n  ']))}${random() < 0.03 ? ',' : ''}}${pick(['', '', '\n', ' x', '{}'])}`;
}
