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

/** What the rules depend on beside the configuration. */
export interface ValidationInputs {
  version: KubeletVersion;
  /** Feature gates set on the kubelet's command line. */
  flags?: ReadonlyMap<string, boolean>;
  /** Feature gates that the kubelet's own --help lists. */
  knownGates?: KnownGates;
}

/** A defaulted configuration with typed access to its values, and the findings so far. */
export class Validator {
  readonly findings: Finding[] = [];
  readonly config: JsonObject;
  readonly minor: number;
  readonly inputs: ValidationInputs;
  readonly gate: (name: string) => boolean;

  constructor(defaulted: JsonObject, inputs: ValidationInputs) {
    this.config = defaulted;
    this.inputs = inputs;
    this.minor = inputs.version.minor;
    this.gate = enabledGates(defaulted, inputs.version, inputs.flags, inputs.knownGates);
  }

  /** Adds a finding that `field` breaks `rule`. The text continues the field's name and has no value. */
  add(field: string, rule: string, text: string): void {
    this.keep(this.findings, field, rule, text);
  }

  /** Keeps the first {@link MAX_FINDINGS} findings and counts the others, since a list may have ten thousand invalid entries. */
  protected keep(findings: Finding[], field: string, rule: string, text: string): void {
    // No text is built for findings that are only counted.
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

/** A configuration to check with the facts about the host; errors and warnings so far. */
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

  /** Adds a warning: for a condition that depends on an unknown fact about the host, or that is harmful but not fatal. */
  warn(field: string, rule: string, text: string): void {
    this.keep(this.warnings, field, rule, text);
  }
}

/**
 * The scheme of a URL in lower case, as Go's net/url parses it; '' for none, undefined for a text that Go rejects.
 * Addresses in brackets are not checked: which of them Go accepts changed between its releases.
 */
export function goUrlScheme(text: string): string | undefined {
  const [main = '', ...fragments] = text.split('#');
  if (/[\x00-\x1f\x7f]/.test(text) || !escapesWell(fragments.join('#'))) return undefined;
  const scheme = /^[a-zA-Z][-+.a-zA-Z0-9]*(?=:)/.exec(main)?.[0];
  if (scheme === undefined && main.startsWith(':')) return undefined;
  const rest = (scheme === undefined ? main : main.slice(scheme.length + 1)).replace(/\?.*$/s, '');
  if (!rest.startsWith('/')) {
    // Text after a scheme without a slash is opaque; without a scheme, a colon in the first segment is invalid.
    return scheme === undefined && rest.split('/')[0]?.includes(':') === true ? undefined : (scheme ?? '').toLowerCase();
  }
  const [, authority = '', path = rest] = rest.startsWith('//') ? (/^\/\/([^/]*)(.*)$/s.exec(rest) ?? []) : [];
  return isAuthority(authority) && escapesWell(path) ? (scheme ?? '').toLowerCase() : undefined;
}

const escapesWell = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text);

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [user, host] = [authority.slice(0, Math.max(0, at)), authority.slice(at + 1)];
  if (!/^[-\w.:~!$&'()*+,;=%@]*$/.test(user) || !escapesWell(user)) return false;
  const [address, port] = host.startsWith('[') ? bracketed(host) : plain(host);
  // In a host, only bytes beyond ASCII and the percent sign itself may be escaped.
  const letters = address.replace(/%(?:25|[89a-fA-F][0-9a-fA-F])/g, '');
  return /^(?::[0-9]*)?$/.test(port) && !/[^-\w.~!$&'()*+,;=:[\]<>"\x80-\u{10ffff}]/u.test(letters);
}

function bracketed(host: string): [address: string, port: string] {
  const end = host.lastIndexOf(']');
  return end < 0 ? ['', 'no bracket'] : [host.slice(0, end + 1), host.slice(end + 1)];
}

function plain(host: string): [address: string, port: string] {
  const colon = host.lastIndexOf(':');
  return colon < 0 ? [host, ''] : [host, host.slice(colon)];
}

/** A name of an image's repository, with or without the host of a registry in front; no tag and no digest. */
const HOST = /(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/;
const PART = /[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*/;
const NAME = new RegExp(`^(?:${HOST.source}/)?(${PART.source}(?:/${PART.source})*)$`);
const MAX_NAME = 255;

/** First minor that accepts names without the host of a registry; earlier ones reject them as if they had a tag. */
const HOST_OPTIONAL_SINCE = 36;

/**
 * What is wrong with an entry of preloadedImagesVerificationAllowlist for a kubelet of `minor`: an entry is a repository, or a prefix that ends with
 * `/*`, in which the rest is not checked.
 * @returns rule and text, undefined for an entry that the kubelet accepts
 */
export function wrongImagePattern(pattern: string, minor: number): readonly [rule: string, text: string] | undefined {
  if (pattern.trim() !== pattern) return ['allowlist-spaces', 'may not hold entries with spaces at their ends'];
  if (pattern.includes('*') || pattern === '') {
    const isPrefix = pattern.length > 2 && pattern.endsWith('/*') && pattern.indexOf('*') === pattern.length - 1;
    return isPrefix ? undefined : ['allowlist-wildcard', 'may hold a wildcard only as a last segment /*, behind a registry at least'];
  }
  const path = NAME.exec(pattern)?.[1];
  if (path === undefined || path.length > MAX_NAME) return ['allowlist-name', 'may only hold names of images, without tags or digests'];
  return minor < HOST_OPTIONAL_SINCE && !hasHost(pattern)
    ? ['allowlist-host', `must name the host of the registry in every entry, for kubelets before 1.${HOST_OPTIONAL_SINCE}`]
    : undefined;
}

function hasHost(name: string): boolean {
  const [host = '', ...rest] = name.split('/');
  return rest.length > 0 && (host === 'localhost' || /[.:A-Z]/.test(host));
}
