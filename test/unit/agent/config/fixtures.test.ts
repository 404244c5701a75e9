import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { applyDefaults } from '../../../../agent/config/defaults.ts';
import { decode } from '../../../../agent/config/decode/decode.ts';
import type { Finding, HostFacts, JsonObject, KubeletVersion } from '../../../../agent/config/contract.ts';
import { preflightFatal } from '../../../../agent/config/preflight/preflight.ts';
import { renderYaml } from '../../../../agent/config/yaml/render.ts';
import { validate } from '../../../../agent/config/rules/validate.ts';
import { parseKubeletVersion } from '../../../../agent/config/version.ts';

const dir = join(import.meta.dirname, '../../../../fixtures/kubelet-config');
const read = (name: string): Uint8Array => readFileSync(join(dir, name));
const index = <T>(name: string): T[] => JSON.parse(readFileSync(join(dir, name, 'index.json'), 'utf8')) as T[];

type Good = { file: string; version: string; unknown: string[] };
type Bad = { file: string; version: string; stage: 'decode' | 'validate' | 'preflight'; field: string; rule: string } & {
  host?: Omit<HostFacts, 'memoryBytes'> & { memoryBytes?: string };
};

const good = index<Good>('good');
const bad = index<Bad>('bad');
const place = ({ field, rule }: Finding): string => `${field} ${rule}`;

function written(name: string, version: KubeletVersion): { config: JsonObject; warnings: readonly Finding[] } {
  const decoded = decode(read(name), version);
  assert.ok(decoded.ok, `${name}: ${decoded.ok ? '' : decoded.errors.map(({ message }) => message).join('; ')}`);
  return { config: decoded.written, warnings: decoded.warnings };
}

for (const { file, version: text, unknown } of good)
  test(`fixture good/${file} is good for 1.${text.slice(2)}`, () => {
    const version = parseKubeletVersion(text);
    const { config, warnings } = written(`good/${file}`, version);
    assert.deepEqual(warnings.map(({ field }) => field).sort(), unknown);
    assert.deepEqual(validate(applyDefaults(config, version), { version }), []);
    assert.deepEqual(preflightFatal(applyDefaults(config, version), {}, { version, args: [] }).errors, []);
    const again = decode(new TextEncoder().encode(renderYaml(config)), version);
    assert.deepEqual(again.ok && again.written, config);
  });

for (const { file, version: text, stage, field, rule, host } of bad)
  test(`fixture bad/${file} breaks ${rule} of ${field === '' ? 'the document' : field}, found by ${stage}`, () => {
    const version = parseKubeletVersion(text);
    const decoded = decode(read(`bad/${file}`), version);
    if (stage === 'decode') {
      assert.deepEqual(decoded.ok ? [] : decoded.errors.map(place), [`${field} ${rule}`]);
      return;
    }
    assert.ok(decoded.ok);
    const defaulted = applyDefaults(decoded.written, version);
    const invalid = validate(defaulted, { version }).map(place);
    if (stage === 'validate') {
      assert.deepEqual(invalid, [`${field} ${rule}`]);
      return;
    }
    assert.deepEqual(invalid, [], 'it must pass the validation');
    const { memoryBytes, ...rest } = host ?? {};
    const facts = { ...rest, ...(memoryBytes === undefined ? {} : { memoryBytes: BigInt(memoryBytes) }) };
    assert.deepEqual(preflightFatal(defaulted, facts, { version, args: [] }).errors.map(place), [`${field} ${rule}`]);
  });
