import { parseDocument } from 'yaml';
import { describeError } from '../../base/errors.ts';
import { isDeeperThan, isJsonObject } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import { decodeProtobuf } from './protobuf-body.ts';
import { badRequest, StatusError, unsupportedMediaType } from '../status-error.ts';

/** As the real server: 3 MiB. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

// No object comes near; without it a hostile body overflows the stack of whatever walks it.
const MAX_BODY_DEPTH = 500;

/** `application/json` of `application/json; charset=utf-8`, lower case. */
export function mediaType(header: string): string {
  return (header.split(';')[0] ?? '').trim().toLowerCase();
}

/**
 * The value in a body of JSON or YAML. No content type is JSON.
 * @throws StatusError 400 for what is not UTF-8, JSON or YAML; 415 for any other type
 */
export function decodeBody(bytes: Uint8Array, contentType: string): unknown {
  const type = mediaType(contentType);
  const isYaml = type.endsWith('yaml');
  const isProtobuf = type === 'application/vnd.kubernetes.protobuf';
  if (!isYaml && !isProtobuf && type !== '' && type !== 'application/json' && !type.endsWith('+json') && type !== '*/*') {
    throw unsupportedMediaType(['application/json', 'application/yaml']);
  }
  let value: unknown;
  try {
    if (isProtobuf) return decodeProtobuf(bytes);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = isYaml ? fromYaml(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${isYaml ? 'YAML' : 'JSON'}): ${describeError(error)}`);
  }
  if (isDeeperThan(value, MAX_BODY_DEPTH)) throw badRequest(`the object provided is nested deeper than ${MAX_BODY_DEPTH} levels`);
  return value;
}

/** The same where only an object will do. */
export function decodeObject(bytes: Uint8Array, contentType: string): JsonObject {
  const value = decodeBody(bytes, contentType);
  if (!isJsonObject(value)) throw badRequest('the object provided is unrecognized: it must be a JSON or YAML object');
  return value;
}

function fromYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1', uniqueKeys: true });
  const [problem] = document.errors;
  if (problem) throw problem;
  // Aliases are bounded, so that a small text cannot grow into a huge object.
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  // Dates, binaries and the like of YAML 1.1 become what JSON has.
  return JSON.parse(JSON.stringify(value ?? null));
}
