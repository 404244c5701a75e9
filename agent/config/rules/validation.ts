import { goDuration } from '../../../base/go-duration.ts';
import {
  andMore,
  type Finding,
  type HostFacts,
  type Json,
  type JsonObject,
  type KubeletFacts,
  type KubeletVersion,
  MAX_FINDINGS,
} from '../contract.ts';
import { isList, isObject, own } from '../decode/document.ts';
import { enabledGates, type KnownGates } from '../gates/gates.ts';
import { gatesOnCommandLine } from '../flags.ts';

/** What rules depend on besides the configuration. */
export interface Against {
  version: KubeletVersion;
  /** Feature gates set on the kubelet's command line. */
  flags?: ReadonlyMap<string, boolean>;
  /** Feature gates that the kubelet's own --help lists. */
  knownGates?: KnownGates;
}

/** A defaulted configuration under evaluation: typed looks at its values, and the findings so far. */
export class Validator {
  readonly findings: Finding[] = [];
  readonly config: JsonObject;
  readonly minor: number;
  readonly against: Against;
  readonly gate: (name: string) => boolean;

  constructor(defaulted: JsonObject, against: Against) {
    this.config = defaulted;
    this.against = against;
    this.minor = against.version.minor;
    this.gate = enabledGates(defaulted, against.version, against.flags, against.knownGates);
  }

  /** Notes that `field` breaks `rule`. The text continues the field's name and holds no value. */
  add(field: string, rule: string, text: string): void {
    this.keep(this.findings, field, rule, text);
  }

  /** Of ten thousand entries of a list that break a rule the first hundred are named, as the kubelet does, and the others counted. */
  protected keep(findings: Finding[], field: string, rule: string, text: string): void {
    // What will be counted only is not worded.
    if (findings.length >= MAX_FINDINGS) {
      const last = findings.at(-1);
      if (last?.more === undefined) findings.push(andMore(1));
      else findings[findings.length - 1] = andMore(last.more + 1);
      return;
    }
    findings.push({ field, rule, message: field === '' ? text : `${field} ${text}` });
  }

  value(name: string): Json | undefined {
    const dot = name.indexOf('.');
    if (dot < 0) return own(this.config, name) ?? undefined;
    let at: Json | undefined = this.config;
    for (const step of name.split('.')) at = isObject(at) ? own(at, step) : undefined;
    return at ?? undefined;
  }

  /** 0 when absent, as Go has it. */
  number(name: string): number | bigint {
    const value = this.value(name);
    return typeof value === 'number' || typeof value === 'bigint' ? value : 0;
  }

  text(name: string): string {
    const value = this.value(name);
    return typeof value === 'string' ? value : '';
  }

  flag(name: string): boolean {
    return this.value(name) === true;
  }

  /** In nanoseconds; 0 when absent. */
  duration(name: string): bigint {
    const value = this.value(name);
    return typeof value === 'string' ? (goDuration(value) ?? 0n) : 0n;
  }

  list(name: string): readonly Json[] {
    const value = this.value(name);
    return isList(value) ? value : [];
  }

  texts(name: string): readonly string[] {
    return this.list(name).filter((item) => typeof item === 'string');
  }

  entries(name: string): [key: string, value: Json][] {
    const value = this.value(name);
    return isObject(value) ? Object.entries(value) : [];
  }
}

/** A configuration in question, with what the node shows; errors and warnings so far. */
export class Preflight extends Validator {
  readonly warnings: Finding[] = [];
  readonly host: HostFacts;
  readonly kubelet: KubeletFacts;

  constructor(defaulted: JsonObject, host: HostFacts, kubelet: KubeletFacts) {
    super(defaulted, {
      version: kubelet.version,
      flags: gatesOnCommandLine(kubelet.args, kubelet.version),
      ...(kubelet.knownGates === undefined ? {} : { knownGates: kubelet.knownGates }),
    });
    this.host = host;
    this.kubelet = kubelet;
  }

  /** Something that depends on a fact about the host that nobody gave us, or that hurts without being fatal. */
  warn(field: string, rule: string, text: string): void {
    this.keep(this.warnings, field, rule, text);
  }
}
