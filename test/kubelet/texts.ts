import type { Random } from '../../base/random.ts';
import { fields } from '../../agent/config/fields.ts';
import type { Field } from '../../agent/config/field.ts';

export const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Scalars that YAML readers disagree on. */
const QUIRKS = [
  ...[
    '0644',
    '08',
    '-08',
    '1e3',
    '1e+3',
    '110.0',
    '0x1F',
    '0X1f',
    '0b11',
    '-0b11',
    '0o17',
    '0O17',
    '+12',
    '1_000',
    '1__0',
    '0_7',
    '1_',
    '_1',
    '.5',
    '.',
    '1.',
  ],
  ...[
    '1:30',
    '~',
    '',
    'null',
    'NULL',
    'Null',
    'nULL',
    'on',
    'On',
    'ON',
    'oN',
    'off',
    'y',
    'Y',
    'yes',
    'n',
    'no',
    'No',
    'true',
    'True',
    'tRUE',
    'false',
  ],
  ...[
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '.inf',
    '-.INF',
    '.nan',
    '-0',
    '-0.0',
    '0x',
    '0b',
    '0o',
    '0o8',
    '0b2',
    '--5',
    '+-5',
    '1e',
    '1e400',
    '1e21',
    '1e20',
  ],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '-9223372036854775809',
    '18446744073709551615',
    '18446744073709551616',
  ],
  ...[
    '2147483647',
    '2147483648',
    '-2147483648',
    '-2147483649',
    '0777777777777777777777777',
    '0xFFFFFFFFFFFFFFFFFF',
    '1,5',
    '1 2',
    '=',
    '<<',
    '?',
    '-',
    ':',
    '!',
    '&',
    '*',
  ],
  ...[
    '"5"',
    "'5'",
    '"on"',
    "'null'",
    '""',
    "''",
    '"a\\tb"',
    "'it''s'",
    '"\\u00e9"',
    '"\\x41"',
    '"a\\\n  b"',
    '"un',
    "'un",
    '"\\q"',
    '"\\/"',
  ],
  ...[
    '!!int "5"',
    '!!str 5',
    '!!float 5',
    '!!float "1.5"',
    '!!bool "yes"',
    '!!bool 1',
    '!!null x',
    '!!null ""',
    '!!int 1.0',
    '!!int x',
    '!!binary aGk=',
    '!!binary "*"',
  ],
  ...['!!timestamp 2020-01-01', '!foo 5', '!!foo 5', '!!map {}', '!!seq []', '!!set {a, b}', '! 5'],
  ...[
    '|\n  a\n  b\n',
    '>\n  a\n  b\n',
    '|-\n  a\n',
    '>+\n  a\n\n',
    '|2\n   a\n',
    '# c',
    'a # c',
    'a#c',
    'a: b',
    'a:b',
    "'a': b",
    '[a, b]',
    '[a, b',
    '[a,, b]',
    '[,]',
    '[a,]',
    '{a: b}',
  ],
  ...[
    '{a: b',
    '{a}',
    '{a: }',
    '{a, b: c}',
    '{"a":b}',
    '[a: b]',
    '[[]]',
    '[{}]',
    '{? a : b}',
    '@a',
    '`a`',
    '%a',
    '%',
    '|',
    '>',
    '|x',
    '\ta',
    'a\t',
    'a\n  b',
    'a\n b\n c',
    '"a\n  b"',
    '- a',
  ],
  ...[
    '\n- a\n- b',
    '\n  - a\n  - b',
    '\n  a: b',
    '\n  - a\n - b',
    '\n\t- a',
    '\n  a: b\n   c: d',
    '\n- - a',
    '\n-',
    '\n- ~\n-',
    '\n? a\n: b',
    '&a b',
    '&a [b]',
    '*a',
    '&a',
    'é',
    '日本',
    '😀',
    'a\u0085b',
    'a\u2028b',
    '\u00a0',
    'a\u0001',
    '\ufeff',
  ],
];

const DURATIONS = [
  '0',
  '0s',
  '1s',
  '1m',
  '1m30s',
  '100ms',
  '1.5h',
  '-1s',
  '+1s',
  '1',
  '1d',
  '',
  's',
  '1s1',
  '.5s',
  '1.s',
  '.s',
  '1us',
  '1µs',
  '1μs',
  '1ns',
  '0.1ns',
  '2540400h',
  '2562048h',
  '9223372036854775807ns',
  '9223372036854775808ns',
  '-9223372036854775808ns',
  '1h1h',
  '1S',
  ' 1s',
  '1 s',
  '1e3s',
  '0.000000001s',
  '3.999999999ms',
  '100000000000000000000s',
  '1.00000000000000000000000001s',
  '0x1s',
  '1_0s',
  '--1s',
  '500us',
  '2s',
  '999999.999999us',
];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '2',
  '5',
  '31',
  '32',
  '100',
  '101',
  '85',
  '80',
  '110',
  '1000',
  '1001',
  '-1000',
  '-1001',
  '65535',
  '65536',
  '-2',
  '2147483647',
  '2147483648',
  '1000000',
  '1.0',
  '1.5',
  '1e2',
  '"1"',
  'true',
  '[]',
  '{}',
  'x',
];
const WORDS = [
  'a',
  '""',
  '/a',
  '/a/b',
  'a/b',
  '../a',
  './a',
  '/',
  '.',
  '1.19',
  '"1.19"',
  '1.18',
  'text',
  'json',
  'none',
  'static',
  'pod',
  'container',
  'restricted',
  'best-effort',
  'single-numa-node',
  'hairpin-veth',
  'promiscuous-bridge',
  'cgroupfs',
  'systemd',
  'Webhook',
  'AlwaysAllow',
  'Watch',
  'Get',
  'Cache',
  '0-3',
  '0,1',
  '3-1',
  '1-',
  '"1"',
  'x-y',
  '10Mi',
  '127.0.0.1',
  '::1',
  'VersionTLS12',
  'application/json',
  'cluster.local',
];
const ITEMS = [
  'pods',
  'none',
  'system-reserved',
  'kube-reserved',
  'foo',
  '""',
  '~',
  'a',
  '1',
  '"1"',
  'true',
  '[]',
  '{}',
  '10.96.0.10',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'kernel.msg*',
];
const KEYS = [
  'memory.available',
  'nodefs.available',
  'cpu',
  'memory',
  'pid',
  'a',
  '1',
  'on',
  '"on"',
  '~',
  '1.5',
  'a b',
  '"a:b"',
  'X-Header',
  'é',
];
const MAP_VALUES = ['100Mi', '10%', '1', '"1"', '~', '', 'x', '1m30s', 'true', '[a]', '[a, b]', '[~]', '[]', '{}', '-1', '1Gi'];
const GATES = [
  'GracefulNodeShutdown',
  'CustomCPUCFSQuotaPeriod',
  'TopologyManager',
  'RotateKubeletServerCertificate',
  'DynamicKubeletConfig',
  'CPUManager',
  'TokenRequest',
  'StartupProbe',
  'NoSuchGate',
  'AllAlpha',
  'AllBeta',
  'SeccompDefault',
  'DryRun',
  'LegacyNodeRoleBehavior',
  'QOSReserved',
  'gracefulNodeShutdown',
  'VolumeSubpath',
  'HyperVContainer',
];
const TOP = [
  '',
  '---\n',
  '# comment\n',
  '\n\n',
  '%YAML 1.1\n---\n',
  '%YAML 1.2\n---\n',
  '%TAG ! tag:a,2000:\n---\n',
  '\ufeff',
  '--- # c\n',
  '...\n',
];
const TAILS = [
  '',
  '',
  '',
  '',
  '\n',
  '# end',
  '...\n',
  '---\n',
  '---\nmaxPods: -1\n',
  '...\ngarbage: [',
  '\n  \n',
  '\t',
  '---\n{',
  'unknownThing: 1\n',
  '\u0000',
];

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

const JSON_VALUES = [
  '0',
  '1',
  '-1',
  '1.0',
  '1e2',
  '-0',
  '01',
  '1.',
  '"a"',
  '""',
  '"1m"',
  '"\\u0041"',
  '"\\ud83d\\ude00"',
  '"\\q"',
  'true',
  'false',
  'null',
  '[]',
  '{}',
  '["pods"]',
  '{"a":"b"}',
  '{"a":true}',
  '[1,]',
  '{"a":1,}',
  'nul',
  'NaN',
  "'a'",
  '9223372036854775808',
  '2147483648',
  '"a\nb"',
  '110',
  '10250',
  '"none"',
  '{"a":{"a":1,"a":2}}',
  '[[[]]]',
];

function jsonText(random: Random, pick: Pick, known: readonly Field[]): string {
  const parts = ['"apiVersion":"kubelet.config.k8s.io/v1beta1"', '"kind": "KubeletConfiguration"'];
  for (let n = Math.floor(random() * 5); n > 0; n--) {
    const field = random() < 0.1 ? 'unknown' : pick(known).name.split('.')[0];
    parts.push(`"${field}"${pick([':', ' : ', ':\n', ':\t'])}${pick(JSON_VALUES)}`);
  }
  return `${pick(['', '', ' ', '\n\t', '\u00a0'])}{${parts.join(pick([',', ', ', ',\n  ']))}${random() < 0.03 ? ',' : ''}}${pick(['', '', '\n', ' x', '{}'])}`;
}
