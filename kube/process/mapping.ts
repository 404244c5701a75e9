import { goDuration } from '../../base/go-duration.ts';
import { nearest } from '../../base/errors.ts';
import type { Millis } from '../../base/clock.ts';
import { isJsonObject } from '../api/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelValueProblems, qualifiedNameProblems } from '../api/names.ts';

/** A problem or warning about one key: `path` in the notation of users, `profiles[0].plugins.NodePorts.weight`; '' is the whole text. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** All findings of a parse, not only the first. */
export class Findings {
  readonly problems: Finding[] = [];
  readonly warnings: Finding[] = [];

  problem(path: string, message: string): void {
    this.problems.push({ path, message });
  }

  /** The value is accepted, but may not have the intended effect. */
  warn(path: string, message: string): void {
    this.warnings.push({ path, message });
  }
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Longest configurable duration: beyond it timers overflow. */
const MAX_S = 2_000_000;

/**
 * One mapping of a text. The keys that the caller reads are the known ones: {@link close} reports all others. A key that is absent, or has no
 * value, gets its default, and so does one whose value is wrong, which is a finding.
 */
export class Mapping {
  readonly path: string;
  readonly findings: Findings;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #readKeys = new Set<string>();

  constructor(value: unknown, path: string, findings: Findings) {
    this.path = path;
    this.findings = findings;
    const isThere = value !== undefined && value !== null;
    if (isThere && !isJsonObject(value)) findings.problem(path, `${found(value)}; it must be a mapping of keys to values`);
    this.#value = isJsonObject(value) ? value : {};
  }

  get keys(): readonly string[] {
    return Object.keys(this.#value);
  }

  has(key: string): boolean {
    return this.#take(key) !== undefined;
  }

  /** Reports each of these keys that is absent. */
  requires(...keys: readonly string[]): void {
    for (const key of keys) if (!this.has(key)) this.problem(key, 'it is missing');
  }

  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  problem(key: string, message: string): void {
    this.findings.problem(this.at(key), message);
  }

  warn(key: string, message: string): void {
    this.findings.warn(this.at(key), message);
  }

  flag(key: string, normal: boolean): boolean {
    const value = this.#take(key);
    if (value === undefined || typeof value === 'boolean') return value ?? normal;
    return this.#refuse(key, value, 'true or false', normal);
  }

  whole<T>(key: string, normal: T, { min, max }: Bounds): number | T {
    const value = this.#take(key);
    if (value === undefined) return normal;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.#refuse(key, value, `a whole number from ${min} to ${max}`, normal);
  }

  /** Whole seconds. @returns ms */
  seconds(key: string, normalMs: Millis, min: number): Millis {
    const value = this.#take(key);
    if (value === undefined) return normalMs;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= MAX_S) return value * 1_000;
    return this.#refuse(key, value, `whole seconds, from ${min} to ${MAX_S}`, normalMs);
  }

  /** A duration in Go's notation. @returns ms, rounded up; more than 0 */
  duration(key: string, normal: Millis): Millis {
    const value = this.#take(key);
    if (value === undefined) return normal;
    const nanoseconds = typeof value === 'string' ? goDuration(value) : undefined;
    if (nanoseconds !== undefined && nanoseconds > 0n && nanoseconds <= BigInt(MAX_S) * 1_000_000_000n)
      return Number((nanoseconds + 999_999n) / 1_000_000n);
    return this.#refuse(key, value, 'a Go duration above 0, such as 5s or 1m30s', normal);
  }

  text<T>(key: string, normal: T, mustBe: MustBe = () => undefined): string | T {
    const value = this.#take(key);
    if (value === undefined) return normal;
    if (typeof value !== 'string') return this.#refuse(key, value, 'a string; put it in quotes', normal);
    const must = mustBe(value);
    return must === undefined ? value : this.#refuse(key, value, must, normal);
  }

  /** Text that no finding may quote. */
  secret(key: string): string | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === 'string') return value;
    this.problem(key, 'it must be a string');
    return undefined;
  }

  /** A number counts as its text: YAML parses 1.34 as a number. */
  choice<const T extends string, D>(key: string, normal: D, choices: readonly T[]): T | D {
    const value = this.#take(key);
    if (value === undefined) return normal;
    const text = typeof value === 'number' ? String(value) : value;
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return chosen;
    const meant = typeof value === 'string' ? nearest(value, choices) : undefined;
    return this.#refuse(key, value, `one of ${choices.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`, normal);
  }

  /** @param read - converts the mapping; must read all known keys */
  mapping<T>(key: string, read: (mapping: Mapping) => T): T {
    return readMapping(this.#take(key), this.at(key), this.findings, read);
  }

  /** @returns undefined when it is absent, or no list */
  list<T>(key: string, each: (value: unknown, path: string) => T): T[] | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value)) return value.map((one: unknown, index) => each(one, `${this.at(key)}[${index}]`));
    return this.#refuse(key, value, 'a list', undefined);
  }

  mappings<T>(key: string, each: (mapping: Mapping) => T): T[] | undefined {
    return this.list(key, (value, path) => readMapping(value, path, this.findings, each));
  }

  /** A list of texts without duplicates. */
  texts(key: string, mustBe: MustBe): string[] | undefined {
    const seen = new Set<string>();
    const all = this.list(key, (value, path) => {
      const must = typeof value === 'string' ? mustBe(value) : 'a string; put it in quotes';
      if (must !== undefined) this.findings.problem(path, `${found(value)}; it must be ${must}`);
      else if (seen.has(String(value))) this.findings.problem(path, `${found(value)}, which is there already; leave it out`);
      seen.add(String(value));
    });
    return all === undefined ? undefined : [...seen];
  }

  close(): void {
    for (const key of this.keys) if (!this.#readKeys.has(key)) this.problem(key, this.#unknown(key));
  }

  #unknown(key: string): string {
    const known = [...this.#readKeys];
    const meant = known.find((one) => one.toLowerCase() === key.toLowerCase()) ?? nearest(key, known);
    return `there is no such key; ${meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`}`;
  }

  #take(key: string): unknown {
    this.#readKeys.add(key);
    return Object.hasOwn(this.#value, key) ? (this.#value[key] ?? undefined) : undefined;
  }

  #refuse<T>(key: string, value: unknown, must: string, normal: T): T {
    this.problem(key, `${found(value)}; it must be ${must}`);
    return normal;
  }
}

/** Reads one mapping, and reports its unknown keys. */
export function readMapping<T>(value: unknown, path: string, findings: Findings, read: (mapping: Mapping) => T): T {
  const mapping = new Mapping(value, path, findings);
  const made = read(mapping);
  mapping.close();
  return made;
}

const MAX_FOUND_LENGTH = 60;

function found(value: unknown): string {
  if (value === undefined || value === null) return 'it has no value';
  if (Array.isArray(value)) return 'it is a list';
  if (isJsonObject(value)) return 'it is a mapping';
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? '');
  return `it is ${text.length > MAX_FOUND_LENGTH ? `${text.slice(0, MAX_FOUND_LENGTH)}...` : text}`;
}

/** Returns what a text must be, if it is not; undefined: the text is valid. */
export type MustBe = (text: string) => string | undefined;

export const mustBeLabelKey: MustBe = (text) =>
  qualifiedNameProblems(text).length > 0 ? 'a label key, such as topology.kubernetes.io/zone' : undefined;

export const mustBeLabelValue: MustBe = (text) => (labelValueProblems(text).length > 0 ? 'the value of a label' : undefined);

export const mustBeResource: MustBe = (text) =>
  qualifiedNameProblems(text).length > 0 ? 'the name of a resource, such as cpu or example.com/gpu' : undefined;

export const mustBeExtendedResource: MustBe = (text) =>
  qualifiedNameProblems(text).length > 0 || !text.includes('/') || /^(?:requests\.|(?:[^/]*\.)?kubernetes\.io\/)/.test(text)
    ? 'the name of a resource with a domain prefix, such as example.com/gpu'
    : undefined;

export const mustBeDomain: MustBe = (text) =>
  dnsSubdomainProblems(text).length > 0 ? 'a domain prefix of resources, such as example.com' : undefined;

export const mustBeNamespace: MustBe = (text) => (dnsLabelProblems(text).length > 0 ? 'a namespace' : undefined);

export const mustBeObjectName: MustBe = (text) => (dnsSubdomainProblems(text).length > 0 ? 'a DNS name in lower case' : undefined);

export const mustBeUrl: MustBe = (text) =>
  /^https?:\/\/[^\s/?#]+(?:\/[^\s?#]*)?$/.test(text) && URL.canParse(text) ? undefined : 'a URL, such as https://extender.example:8888/v1';

export const mustBeImage: MustBe = (text) =>
  /^[^\s]{1,1000}$/.test(text) ? undefined : 'an image, such as registry.example.com/pause:3.9';
