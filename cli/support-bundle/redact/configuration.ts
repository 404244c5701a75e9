import { fields } from '../../../agent/config/fields/fields.ts';
import type { Field } from '../../../agent/config/fields/field.ts';
import { REDACTED, redactText } from './text.ts';
import { agentFlags } from '../../agent/flags.ts';

/** Called for every text that is withheld; `secret`: the field is a secret by its meaning. */
export type Withheld = (value: string, why: 'secret' | 'unlisted') => void;

const byName = new Map(fields.map((field) => [field.name, field]));
const groups = new Set(fields.flatMap(({ name }) => name.split('.').slice(0, -1).map((_, at, all) => all.slice(0, at + 1).join('.')))); // prettier-ignore
/** Free-text fields that may be shown: protocol, version, socket, or the cluster's domain. */
const OPEN_TEXTS = new Set(
  'apiVersion kind clusterDomain contentType tlsMinVersion showHiddenMetricsForVersion containerRuntimeEndpoint imageServiceEndpoint'.split(
    ' ',
  ),
);

type Shape = (value: string) => boolean;
const matches = (shape: RegExp): Shape => (value) => value.length <= 256 && shape.test(value); // prettier-ignore
const duration = matches(/^-?(?:\d{1,18}|(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|\u00b5s|ms|s|m|h))+)$/);
const quantity = matches(/^[+-]?\d{1,24}(?:\.\d{1,9})?(?:[KMGTPE]i?|[numk]|[eE][+-]?\d{1,3})?%?$/);
const path = matches(/^[A-Za-z0-9_./@:~-]*$/);
const address = matches(/^[0-9A-Fa-f.:/]*$/);
const identifier = matches(/^[A-Za-z][A-Za-z0-9]{0,80}$/);
const setting = matches(/^[a-z][A-Za-z0-9.-]{0,60}$/);
const resource = matches(/^[a-z][a-z0-9./-]{0,80}$/);
const listed = matches(/^(?:TLS_[A-Z0-9_]{1,80}|[a-z]{1,20}(?:\.[a-z0-9_*-]{1,40}){1,6})$/);

/** Texts that a field of this type may show; all others are withheld. */
function shapeOf(type: string): Shape | undefined {
  const choices = /enum\(([^)]*)\)/.exec(type)?.[1]?.split('|');
  if (choices) return (value) => value === '' || choices.includes(value);
  if (type.includes('duration')) return duration;
  if (type.includes('quantity') || type.includes('percent')) return quantity;
  if (type === 'path' || type === 'cgroup') return path;
  if (type === 'ip' || type === 'cidr' || type === 'list<ip>') return address;
  if (type === 'cpuset') return matches(/^[0-9,-]*$/);
  if (type === 'list<string>') return listed;
  if (type === 'map<string,string>') return (value) => quantity(value) || /^(?:true|false)$/.test(value);
  return undefined;
}

function keysOf(type: string): Shape {
  if (type === 'map<string,bool>') return identifier;
  if (type.startsWith('map<resource')) return resource;
  return setting;
}

/**
 * A KubeletConfiguration in which known fields show numbers, booleans, enum values, durations, quantities, paths and addresses.
 * Values that do not match the type of their field are withheld, and values of unknown fields too.
 */
export function redactKubeletConfig(document: unknown, withheld: Withheld = () => undefined): unknown {
  return config(document, '', withheld);
}

function config(value: unknown, at: string, withheld: Withheld): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return withhold(value, 'unlisted', withheld);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => {
      const name = at === '' ? key : `${at}.${key}`;
      const field = byName.get(name);
      if (field) return [key, leaf(inner, field, withheld)];
      if (groups.has(name)) return [key, config(inner, name, withheld)];
      if (OPEN_TEXTS.has(name) && typeof inner === 'string') return [key, openText(inner)];
      // The key is shown, since it may be a misspelled field: the cause of the problem.
      return [identifier(key) ? key : REDACTED, withhold(inner, 'unlisted', withheld)];
    }),
  );
}

function leaf(value: unknown, field: Field, withheld: Withheld): unknown {
  if (field.secret === true) return withhold(value, 'secret', withheld);
  if (typeof value === 'string' && OPEN_TEXTS.has(field.name)) return openText(value);
  if (typeof value === 'string' && (field.type === 'url' || field.name === 'staticPodURL')) return hostOnly(value, withheld);
  return plain(value, shapeOf(field.type), keysOf(field.type), withheld, 0);
}

function plain(value: unknown, shape: Shape | undefined, keys: Shape, withheld: Withheld, depth: number): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'string')
    return shape?.(value) === true && redactText(value) === value ? value : withhold(value, 'unlisted', withheld);
  if (depth > 5 || typeof value !== 'object') return withhold(value, 'unlisted', withheld);
  if (Array.isArray(value)) return (value as readonly unknown[]).map((one) => plain(one, shape, keys, withheld, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [
      keys(key) && redactText(key) === key ? key : REDACTED,
      plain(inner, shape, keys, withheld, depth + 1),
    ]),
  );
}

const openText = (value: string): string => (matches(/^(?:unix:\/\/)?[A-Za-z0-9./_-]*$/)(value) ? redactText(value) : REDACTED);

/** Scheme and host of a URL; user, path and query are withheld, except for a unix socket. */
function hostOnly(value: string, withheld: Withheld): string {
  if (value === '' || /^unix:\/\/\/[\w./-]{1,200}$/.test(value)) return value;
  withheld(value, 'secret');
  const url = URL.parse(value);
  return url === null ? REDACTED : `${url.protocol}//${url.host}/${REDACTED}`;
}

function withhold(value: unknown, why: 'secret' | 'unlisted', withheld: Withheld, depth = 0): string {
  if (typeof value === 'string' && value !== '') withheld(value, why);
  else if (typeof value === 'object' && value !== null && depth < 20) {
    for (const inner of Object.values(value)) withhold(inner, why, withheld, depth + 1);
  }
  return REDACTED;
}

/** The known settings of an agent.yaml; URLs without user and query; unknown keys are hidden, only their existence is shown. */
export function redactSettings(document: unknown, withheld: Withheld): Record<string, unknown> {
  if (typeof document !== 'object' || document === null) return {};
  const unknown = Object.entries(document).filter(([key]) => !agentFlags.some((flag) => flag.key === key));
  for (const [, value] of unknown) if (typeof value === 'string') withheld(value, 'unlisted');
  const known = Object.entries(document).filter(([key]) => agentFlags.some((flag) => flag.key === key));
  return {
    ...Object.fromEntries(known.map(([key, value]: [string, unknown]) => [key, shown(value)])),
    ...(unknown.length === 0 ? {} : { [`${unknown.length} unknown keys`]: REDACTED }),
  };
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  return value === null || ['number', 'boolean', 'bigint'].includes(typeof value) ? value : REDACTED;
}
