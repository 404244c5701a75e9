import type { Finding, Json, JsonObject, KubeletVersion } from '../contract.ts';
import { isObject, own, setKey } from '../decode/document.ts';
import type { Field } from '../fields/field.ts';
import { flagValue } from './values.ts';
import { type Placed, withValues } from '../overlay.ts';
import { schemaFor } from '../fields/schema.ts';

/** A field that a flag of the kubelet's command line decides: whatever a configuration says, it is not heard. */
export interface Shadowed {
  field: string;
  /** With dashes: `--max-pods`. */
  flag: string;
}

export interface Flagged {
  merged: JsonObject;
  shadowed: Shadowed[];
  /** Flags whose value the kubelet would refuse. They are left out of `merged`. */
  problems: Finding[];
}

/**
 * Puts a kubelet's command line over a configuration, as the kubelet does: a flag beats the field; feature gates merge gate by gate.
 * @param args - arguments without the program's name; `--flag=value`, `--flag value`, and for switches `--flag`
 */
export function applyFlags(written: JsonObject, args: readonly string[], version: KubeletVersion): Flagged {
  const fields = new Map<string, { field: Field; path: readonly string[] }>();
  for (const { field, path, known } of schemaFor(version.minor).leaves)
    if (field.flag !== undefined && known) fields.set(field.flag, { field, path });
  const problems: Finding[] = [];
  const values = new Map<string, { flag: string; path: readonly string[]; value: Json }>();
  for (const { name, value } of parseArgs(args, (name) => fields.get(name)?.field.type === 'bool')) {
    const target = fields.get(name);
    if (target === undefined) continue;
    const { field, path } = target;
    const read = flagValue(field, value, values.get(field.name)?.value);
    if (read === undefined)
      problems.push({ field: field.name, rule: 'flag', message: `the kubelet's flag --${name} has a value that is not a ${field.type}` });
    else values.set(field.name, { flag: `--${name}`, path, value: read });
  }
  const placed: Placed[] = [];
  const shadowed: Shadowed[] = [];
  for (const [field, { flag, path, value }] of values) {
    if (field === 'featureGates' && isObject(value)) {
      placed.push({ path, value: together(own(written, 'featureGates'), value) });
      shadowed.push(...Object.keys(value).map((gate) => ({ field: `featureGates.${gate}`, flag })));
    } else {
      placed.push({ path, value });
      shadowed.push({ field, flag });
    }
  }
  return { merged: placed.length === 0 ? written : withValues(written, placed), shadowed, problems };
}

/** The feature gates that a command line sets. */
export function gatesOnCommandLine(args: readonly string[], version: KubeletVersion): ReadonlyMap<string, boolean> {
  const gates = own(applyFlags({}, args, version).merged, 'featureGates');
  return new Map(isObject(gates) ? Object.entries(gates).map(([name, on]) => [name, on === true]) : []);
}

function together(config: Json | undefined, flags: JsonObject): JsonObject {
  const made: Record<string, Json> = {};
  for (const [name, on] of isObject(config) ? Object.entries(config) : []) setKey(made, name, on);
  for (const [name, on] of Object.entries(flags)) setKey(made, name, on);
  return made;
}

/** Flags in their order. Underscores count as dashes, as for the kubelet; what is no flag is skipped. */
function* parseArgs(args: readonly string[], isSwitch: (name: string) => boolean): Generator<{ name: string; value: string }> {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') return;
    const long = /^--([^=]+)(?:=([\s\S]*))?$/.exec(arg) ?? /^-(v)(?:=?([\s\S]+))?$/.exec(arg);
    if (long === null) continue;
    const name = (long[1] ?? '').replaceAll('_', '-');
    const [, , value] = long;
    if (value !== undefined) yield { name, value };
    else if (isSwitch(name)) yield { name, value: 'true' };
    else {
      const next = args[at + 1];
      // The next argument is its value, unless that is a flag: then this is a switch we do not know.
      if (next === undefined || /^-[-a-z]/.test(next)) continue;
      at++;
      yield { name, value: next };
    }
  }
}
