import { goDuration } from '../../base/go-duration.ts';
import { nearest } from '../../base/errors.ts';
import type { Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems, labelValueProblems, qualifiedNameProblems } from '../../kube/api/names.ts';

/** Something about one key: `path` as a person would look for it, `profiles[0].plugins.NodePorts.weight`; '' is the whole text. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** What is found while reading: all of it, not the first alone. */
export class Findings {
  readonly problems: Finding[] = [];
  readonly warnings: Finding[] = [];

  problem(path: string, message: string): void {
    this.problems.push({ path, message });
  }

  /** Taken, and not as whoever wrote it may think. */
  warn(path: string, message: string): void {
    this.warnings.push({ path, message });
  }
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Longest wait that can be asked for: beyond it timers wrap. */
const MAX_S = 2_000_000;

/**
 * One mapping of a text, whose keys are the ones that are asked for: {@link close} complains about all others. A key that is absent, or has no
 * value, is its default, and so is one whose value is wrong, which is a finding.
 */
export class Mapping {
  readonly path: string;
  readonly findings: Findings;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #asked = new Set<string>();

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

  /** It is a finding when one of these is absent. */
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

  /** As Go writes it. @returns ms, rounded up; more than 0 */
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

  /** Text that nobody else is to see. */
  secret(key: string): string | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === 'string') return value;
    this.problem(key, 'it must be a string');
    return undefined;
  }

  /** A number stands for itself as text: YAML takes 1.34 for one. */
  choice<const T extends string, D>(key: string, normal: D, choices: readonly T[]): T | D {
    const value = this.#take(key);
    if (value === undefined) return normal;
    const text = typeof value === 'number' ? String(value) : value;
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return chosen;
    const meant = typeof value === 'string' ? nearest(value, choices) : undefined;
    return this.#refuse(key, value, `one of ${choices.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`, normal);
  }

  /** @param read - makes what is there into what is meant, and asks for all keys there may be */
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

  /** Texts that differ. */
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
    for (const key of this.keys) if (!this.#asked.has(key)) this.problem(key, this.#unknown(key));
  }

  #unknown(key: string): string {
    const known = [...this.#asked];
    const meant = known.find((one) => one.toLowerCase() === key.toLowerCase()) ?? nearest(key, known);
    return `there is no such key; ${meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`}`;
  }

  #take(key: string): unknown {
    this.#asked.add(key);
    return Object.hasOwn(this.#value, key) ? (this.#value[key] ?? undefined) : undefined;
  }

  #refuse<T>(key: string, value: unknown, must: string, normal: T): T {
    this.problem(key, `${found(value)}; it must be ${must}`);
    return normal;
  }
}

/** Reads one mapping, to the last key of it. */
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

/** What a text of a configuration must be, when it is not; undefined: it is. */
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
