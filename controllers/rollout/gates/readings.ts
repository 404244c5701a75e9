import { isJsonObject } from '../../../kube/api/json.ts';
import {
  type AlertsGate,
  type Expect,
  type HttpAnswer,
  type ObjectGate,
  type PrometheusGate,
  type Reading,
  SERVERS_FLAG,
} from './contract.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

/** Max names of alerts in one text. */
const MAX_ALERTS = 5;
const MAX_ALERT_NAME = 40;

/** The URL of a query: `/api/v1/query` below the server's base, whatever that is. */
export function queryUrl({ url, query }: Pick<PrometheusGate, 'url' | 'query'>): string {
  return `${url.replace(/\/+$/, '')}/api/v1/query?query=${encodeURIComponent(query)}`;
}

/** One series for each name of a blocking alert: as many as there are rules, however many alerts they raise. */
export function alertsQuery({ ignore, firingOnly = true }: Omit<AlertsGate, 'url'>): string {
  // PromQL has the strings of Go, which include those of JSON.
  const matchers = [
    ...(firingOnly ? ['alertstate="firing"'] : []),
    ...(ignore === undefined ? [] : [`alertname!~${JSON.stringify(ignore)}`]),
  ];
  return `count by (alertname) (ALERTS{${matchers.join(',')}})`;
}

/** Decides from the answer to a query. With warnings it does not hold: a remote read or Thanos may have left out the very series. Notes (`infos`) are fine. */
export function readPrometheus(answer: HttpAnswer, expect: Expect = 'empty'): Reading {
  const data = dataOf(answer);
  if ('why' in data) return data;
  switch (data.resultType) {
    case 'vector':
      return Array.isArray(data.result) ? readVector(data.result, expect) : notPrometheus(answer);
    case 'scalar':
      if (expect !== 'nonZero') return no(`the query gives a scalar, which is never ${expect}; write expect: nonZero, or query a vector`);
      return ofValue(data.result) ? yes('the value is not zero') : no('the value is zero');
    case 'matrix':
      return no('the query gives a range vector; query an instant vector');
    case 'string':
      return no('the query gives a string; query an instant vector');
    default:
      return notPrometheus(answer);
  }
}

/** Decides from the answer to `alertsQuery`. */
export function readAlerts(answer: HttpAnswer): Reading {
  const data = dataOf(answer);
  if ('why' in data) return data;
  if (data.resultType !== 'vector' || !Array.isArray(data.result)) return notPrometheus(answer);
  const { length } = data.result;
  if (length === 0) return yes('no alert');
  const names = data.result.slice(0, MAX_ALERTS).map(alertName);
  return no(
    `${length === 1 ? 'alert' : `${length} alerts`}: ${names.join(', ')}${length > MAX_ALERTS ? ` and ${length - MAX_ALERTS} more` : ''}`,
  );
}

function alertName(series: unknown): string {
  const metric = isJsonObject(series) ? series['metric'] : undefined;
  const name = isJsonObject(metric) ? metric['alertname'] : undefined;
  return (typeof name === 'string' && excerpt(name, MAX_ALERT_NAME)) || 'without a name';
}

const yes = (why: string): Reading => ({ ok: true, why });
const no = (why: string): Reading => ({ ok: false, why });
const notPrometheus = ({ status }: HttpAnswer): Reading =>
  no(`the server answered ${status} with something that is not the query API of Prometheus; check the URL`);

/** A proxy in front of the server explains the rejection in its own words; this text has the remedy. */
function notLetIn({ status, credentials }: HttpAnswer): Reading {
  if (credentials === undefined)
    return no(`the server answered ${status}: it requires credentials; name a file that has them in ${SERVERS_FLAG}`);
  return no(`the server answered ${status} to ${credentials}; ${status === 401 ? 'correct it' : 'allow it to query'}`);
}

interface Data {
  resultType: unknown;
  result: unknown;
}

function dataOf(answer: HttpAnswer): Data | Reading {
  if (answer.status >= 300 && answer.status < 400)
    return no(`the server answered ${answer.status}; redirects are not followed, write the URL that they lead to`);
  if (answer.status === 401 || answer.status === 403) return notLetIn(answer);
  const body = parse(answer.text);
  if (body === undefined) return notPrometheus(answer);
  if (body['status'] === 'error')
    return no(`the query failed: ${excerpt(stringOf(body['errorType']), 40)}: ${excerpt(stringOf(body['error']))}`);
  const data = body['data'];
  if (body['status'] !== 'success' || answer.status !== 200 || !isJsonObject(data)) return notPrometheus(answer);
  const warnings = body['warnings'];
  if (Array.isArray(warnings) && warnings.length > 0) return no(`the result may be incomplete: ${excerpt(stringOf(warnings[0]))}`);
  // VictoriaMetrics sets this when some of its storage nodes did not contribute to the answer.
  if (body['isPartial'] === true) return no('the result may be incomplete: the server says that it is partial');
  return { resultType: data['resultType'], result: data['result'] };
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function readVector(series: readonly unknown[], expect: Expect): Reading {
  const count = `${series.length} series`;
  switch (expect) {
    case 'empty':
      return series.length === 0 ? yes('no series') : no(`${count}, expected none`);
    case 'nonEmpty':
      return series.length > 0 ? yes(count) : no('no series, expected at least one');
    case 'nonZero': {
      if (series.length === 0) return no('no series, expected at least one');
      const zero = series.filter((one) => !isJsonObject(one) || !ofValue(one['value'])).length;
      return zero === 0 ? yes(`${count}, none is zero`) : no(`${zero} of ${count} ${zero === 1 ? 'is' : 'are'} zero or not a number`);
    }
  }
}

/** Whether a sample, `[TIME, "VALUE"]`, has a number other than 0. Native histograms have none. */
function ofValue(sample: unknown): boolean {
  const value: unknown = Array.isArray(sample) ? sample[1] : undefined;
  if (value === '+Inf' || value === '-Inf') return true;
  const number = typeof value === 'string' && value !== '' ? Number(value) : 0;
  return number !== 0 && !Number.isNaN(number);
}

/** Max conditions of one object that are read. */
const MAX_CONDITIONS = 1_000;

/**
 * Whether the object has the condition, for the present generation of its spec.
 * @param object - undefined: not found
 */
export function readObject(object: Readonly<KubeObject> | undefined, gate: Pick<ObjectGate, 'condition' | 'status' | 'kind'>): Reading {
  if (object === undefined) return no('the object does not exist');
  const wanted = gate.status ?? 'True';
  const status = isJsonObject(object['status']) ? object['status'] : {};
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].slice(0, MAX_CONDITIONS) : [];
  const condition = conditions.find((one) => isJsonObject(one) && one['type'] === gate.condition) as Record<string, unknown> | undefined;
  if (condition === undefined) return no(`${gate.kind} has no condition ${gate.condition}`);
  const reason = typeof condition['reason'] === 'string' ? ` (${excerpt(condition['reason'], 64)})` : '';
  const is = `condition ${gate.condition} is ${excerpt(String(condition['status']), 20)}${reason}`;
  if (condition['status'] !== wanted) return no(`${is}, expected ${wanted}`);
  const { generation } = object.metadata;
  const isOld = [condition, status].some(
    ({ observedGeneration: seen }) => typeof seen === 'number' && typeof generation === 'number' && seen < generation,
  );
  return isOld ? no(`${is}, but for an older generation of the spec`) : yes(is);
}

/** Longest text of a gate's result, in characters. */
const MAX_WHY = 256;
const MAX_EXCERPT = 100;

/** Text of a server, shortened to fit into a status: one line, printable, at most `length` characters. */
function excerpt(text: string, length = MAX_EXCERPT): string {
  // Only the beginning is processed: the text may have a megabyte.
  const line = text
    .slice(0, 4 * length)
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length - 3).toWellFormed()}...` : line;
}

export const boundedWhy = (text: string): string => excerpt(text, MAX_WHY);
