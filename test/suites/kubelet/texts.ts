import ingredients from '../../../fixtures/config-ingredients.json' with { type: 'json' };
import type { Random } from '../../../base/random.ts';
import { fields, isKnownTo } from '../../../agent/config/fields/fields.ts';
import type { Field } from '../../../agent/config/fields/field.ts';
import { gatesOf } from '../../../agent/config/gates/gates.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../agent/config/version.ts';

/** Scalars that YAML readers disagree on, and pieces that go together into a text or spoil it. */
const { QUIRKS, DURATIONS, NUMBERS, WORDS, ITEMS, KEYS, MAP_VALUES, GATES, TOP, TAILS, JSON_VALUES, HEADERS } = ingredients;
/** Values of fields that rules look into, right and wrong. */
const FIELD_VALUES: Readonly<Record<string, readonly string[]>> = ingredients.FIELD_VALUES;
/** Values of the right type. */
const GOOD: Readonly<Record<string, readonly string[]>> = ingredients.GOOD;

/** First minor that has failCgroupV1. */
const CGROUP_FIELD_SINCE = 31;

/** Apiversion and kind, and what lets a kubelet of `minor` start on a machine with cgroup v1: the tests may run on one. */
export const headerOf = (minor: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${minor < CGROUP_FIELD_SINCE ? '' : 'failCgroupV1: false\n'}`;

/** Endless configuration texts, good and bad, of the fields and gates of a kubelet 1.`minor`; the same for the same source of chance. */
export function* generatedTexts(random: Random, minor: number): Generator<string> {
  const texts = new Texts(random, minor);
  // Three moods: mostly good values, mixed, and mostly quirks; the first finds differences of defaults and rules, the last of decoding.
  for (;;) yield texts.chance(0.12) ? texts.json() : texts.yaml(texts.pick([0.003, 0.003, 0.03, 0.15]));
}

const ODD_KEYS = 'unknown|maxpods|MaxPods|"max pods"|1|on|~|1.5|<<|x-y|{a: b}|[a]|? a\n|__proto__|constructor'.split('|');

class Texts {
  readonly #random: Random;
  readonly #known: readonly Field[];
  readonly #gates: readonly string[];
  readonly #header: string;
  readonly #headers: readonly string[];
  readonly #minor: number;

  constructor(random: Random, minor: number) {
    this.#random = random;
    this.#minor = minor;
    // What the machine's cgroups decide is left to the header.
    this.#known = fields.filter((field) => isKnownTo(minor, field) && field.name !== 'failCgroupV1');
    this.#gates = [...gatesOf(minor).keys()];
    this.#header = headerOf(minor);
    const [, , ...more] = this.#header.split(/^/m);
    this.#headers = [...HEADERS.map((header) => header + more.join('')), `${this.#header}Kind: x\n`];
  }

  pick<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  yaml(quirks: number): string {
    const lines: string[] = [];
    const structs = new Map<string, Map<string, string>>();
    for (let left = this.#below(this.chance(0.1) ? 40 : 6); left > 0; left--) {
      const field = this.chance(0.02) ? this.pick(fields) : this.pick(this.#known);
      const [top = '', ...rest] = field.name.split('.');
      const value = this.#value(field, quirks);
      if (rest.length === 0) {
        lines.push(`${this.#spelled(top)}${this.chance(0.03) ? ' ' : ''}:${value === '' ? '' : this.chance(0.02) ? '   ' : ' '}${value}`);
        continue;
      }
      const members = structs.get(top) ?? new Map<string, string>();
      structs.set(top, members);
      if (!members.has(rest[0] ?? ''))
        members.set(
          rest[0] ?? '',
          rest.length === 1
            ? `  ${this.#spelled(rest[0] ?? '')}: ${indent(value, 2)}`
            : `  ${rest[0] ?? ''}:\n    ${this.#spelled(rest[1] ?? '')}: ${indent(value, 4)}`,
        );
    }
    for (const [top, members] of structs)
      lines.push(`${top}:${this.chance(0.03) ? this.pick([' {}', ' []', ' ~', ' x', '']) : `\n${[...members.values()].join('\n')}`}`);
    if (this.chance(0.08))
      lines.push(`${this.pick(ODD_KEYS)}: ${this.pick([this.pick(QUIRKS), 'a', '{maxPods: 5}', '[{maxPods: 5}, {maxPods: 6}]'])}`);
    if (this.chance(0.05) && lines.length > 0) lines.push(this.pick(lines));
    if (this.chance(0.1)) lines.push(`featureGates: ${this.#gateMap()}`);
    if (this.chance(0.03)) lines.push(`featureGates:\n  ${this.#gate()}: ${this.pick(['true', 'false', 'on', '~', '1', '"true"'])}`);
    const header = this.chance(0.04) ? this.pick(this.#headers) : this.#header;
    const body = this.chance(0.1) ? [...lines, header.trimEnd()].join('\n') : header + lines.join('\n');
    const text = `${this.chance(0.08) ? this.pick(TOP) : ''}${body}\n${this.chance(0.1) ? this.pick(TAILS) : ''}`;
    return this.chance(0.02) ? text.replaceAll('\n', '\r\n') : text;
  }

  json(): string {
    const parts = ['"apiVersion":"kubelet.config.k8s.io/v1beta1"', '"kind": "KubeletConfiguration"'];
    if (this.#minor >= CGROUP_FIELD_SINCE) parts.push('"failCgroupV1":false');
    for (let left = this.#below(5); left > 0; left--) {
      const field = this.chance(0.1) ? 'unknown' : this.pick(this.#known).name.split('.')[0];
      parts.push(`"${field}"${this.pick([':', ' : ', ':\n', ':\t'])}${this.pick(JSON_VALUES)}`);
    }
    const [before, between, after] = [
      ['', '', ' ', '\n\t', '\u00a0'],
      [',', ', ', ',\n  '],
      ['', '', '\n', ' x', '{}'],
    ];
    return `${this.pick(before)}{${parts.join(this.pick(between))}${this.chance(0.03) ? ',' : ''}}${this.pick(after)}`;
  }

  #spelled(name: string): string {
    if (this.chance(0.97)) return name;
    const capital = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return this.pick([
      name.toLowerCase(),
      name.toUpperCase(),
      `"${name}"`,
      `'${name}'`,
      capital,
      `? ${name}\n`,
      `!!str ${name}`,
      `&k${name} ${name}`,
    ]);
  }

  /** Mostly one that this kubelet knows, else one of another minor, or of none. */
  #gate(): string {
    if (this.chance(0.9)) return this.pick(this.#gates);
    return this.chance(0.5)
      ? this.pick(GATES)
      : this.pick([...gatesOf(OLDEST_MINOR + this.#below(NEWEST_MINOR - OLDEST_MINOR + 1)).keys()]);
  }

  #gateMap(): string {
    const times = this.chance(0.1) ? 20 : this.#below(4);
    return `{${Array.from({ length: times }, () => `${this.#gate()}: ${this.pick(['true', 'false'])}`).join(', ')}}`;
  }

  #value(field: Field, quirks: number): string {
    if (this.chance(quirks)) return this.pick(QUIRKS);
    const own = FIELD_VALUES[field.name];
    if (own !== undefined && this.chance(0.85)) return this.pick(own);
    if (field.name === 'featureGates') return this.#gateMap();
    if (this.chance(1 - 5 * quirks)) return this.#good(field);
    const { type } = field;
    const times = this.#below(4);
    if (type === 'bool') return this.pick(['true', 'false', 'on', 'no', '~', '"true"', 'x', '0', 'true', 'false']);
    if (type === 'duration') return this.chance(0.5) ? this.pick(DURATIONS) : `"${this.pick(DURATIONS)}"`;
    if (/^u?int/.test(type)) return this.pick(NUMBERS);
    if (type.startsWith('list')) {
      const items = Array.from({ length: times }, () => this.pick(ITEMS));
      return this.chance(0.5) ? `[${items.join(', ')}]` : items.map((item) => `\n- ${item}`).join('');
    }
    if (type.startsWith('map')) {
      const entries = Array.from({ length: times }, () => `${this.pick(KEYS)}: ${this.pick(MAP_VALUES)}`);
      return this.chance(0.5) ? `{${entries.join(', ')}}` : entries.map((entry) => `\n  ${entry}`).join('');
    }
    return this.pick(WORDS);
  }

  /** A value of the right type; whether the rules like it is another matter. */
  #good({ name, type }: Field): string {
    const times = this.#below(4);
    const own = /^enum\((.*)\)$/.exec(type)?.[1]?.split('|');
    if (own !== undefined) return this.pick([...own, ...own, '""', 'x', '~']);
    if (/^u?int/.test(type)) return this.pick(GOOD['int'] ?? []);
    if (name === 'staticPodURLHeader') return this.pick(['{}', '{a: [b]}', '{a: [], b: ~}', '\n  X-A:\n  - b\n  - ~']);
    if (type.startsWith('list')) {
      const items = ['pods', 'none', 'system-reserved', 'kube-reserved', 'system-reserved-compressible', 'kube-reserved-compressible', 'foo', '"10.0.0.1"', 'a', '~']; // prettier-ignore
      return `[${Array.from({ length: times }, () => this.pick(items)).join(', ')}]`;
    }
    if (type.startsWith('map'))
      return `{${Array.from({ length: times }, (_, n) => `${KEYS[n]}: ${this.pick(['100Mi', '10%', '"1"', '~', 'x'])}`).join(', ')}}`;
    return this.pick(GOOD[type] ?? WORDS.filter((word) => word !== '1.19' && word !== '1.18'));
  }
}

function indent(value: string, by: number): string {
  return value.replaceAll('\n', `\n${' '.repeat(by)}`);
}
