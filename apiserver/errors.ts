import { resourceName } from '../kube/api/object.ts';
import type { Status } from '../kube/api/object.ts';

/** A validation error of one field. `shown` is the invalid value as the message shows it, already quoted; some types show none. */
export interface FieldError {
  field: string;
  type: FieldErrorType;
  detail: string;
  shown?: string;
  /** Parts that differ on servers from 1.{@link TODAY} on. */
  today?: Partial<Pick<FieldError, 'field' | 'type' | 'detail' | 'shown'>>;
}

/**
 * First release 1.N with the current messages: whole structures as JSON, and `today` of an error. Verified on 1.20 and 1.36; the releases between them
 * that changed each message are not known.
 */
export const TODAY = 34;

/** The errors with the messages of release 1.`release`. */
export const messagesOf = (release: number, errors: readonly FieldError[]): readonly FieldError[] =>
  release < TODAY ? errors : errors.map((error) => ({ ...error, ...error.today }));

export type FieldErrorType = keyof typeof types;

// Type of the error -> text in messages, reason in causes.
const types = {
  required: ['Required value', 'FieldValueRequired'],
  invalid: ['Invalid value', 'FieldValueInvalid'],
  forbidden: ['Forbidden', 'FieldValueForbidden'],
  duplicate: ['Duplicate value', 'FieldValueDuplicate'],
  notSupported: ['Unsupported value', 'FieldValueNotSupported'],
  tooLong: ['Too long', 'FieldValueTooLong'],
  notFound: ['Not found', 'FieldValueNotFound'],
} as const;

export const required = (field: string, detail: string): FieldError => ({ field, type: 'required', detail });
export const prohibited = (field: string, detail: string): FieldError => ({ field, type: 'forbidden', detail });
export const tooLong = (field: string, bytes: number): FieldError => ({
  field,
  type: 'tooLong',
  detail: `must have at most ${bytes} bytes`,
  today: { detail: `may not be more than ${bytes} bytes` },
});

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { field, type: 'invalid', detail, shown: show(value) };
}

/** An invalid value. @param shown - text of the value in the message. @param json - what current servers print, if different */
export const invalidShown = (field: string, shown: string, detail: string, json?: unknown): FieldError => ({
  field,
  type: 'invalid',
  detail,
  shown,
  ...inJson(json),
});

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  return {
    field,
    type: 'notSupported',
    detail: `supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
    shown: show(value),
  };
}

export const duplicate = (field: string, value: unknown): FieldError => ({ field, type: 'duplicate', detail: '', shown: show(value) });
export const missing = (field: string, value: unknown): FieldError => ({ field, type: 'notFound', detail: '', shown: show(value) });

/** A value of an enumerated type that is not supported. @param json - as for {@link invalidShown} */
export function notSupportedShown(field: string, shown: string, supported: readonly string[], json?: unknown): FieldError {
  return { ...notSupported(field, '', supported), shown, ...inJson(json) };
}

const inJson = (value: unknown): Pick<FieldError, 'today'> => (value === undefined ? {} : { today: { shown: JSON.stringify(value) } });

function show(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}

/** `Invalid value: "x": must be y`: the error without its field, as in causes of a Status. */
export function errorBody(error: FieldError): string {
  const [text] = types[error.type];
  return [text, error.shown, error.detail].filter((part) => part !== undefined && part !== '').join(': ');
}

/** One error plain, several in brackets; duplicates once. */
function fieldErrorsText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${errorBody(error)}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

export function causes(errors: readonly FieldError[]): { reason: string; message: string; field: string }[] {
  return errors.map((error) => ({ reason: types[error.type][1], message: errorBody(error), field: error.field }));
}

/** The kind of object in an error: `nodes`, or `leases` of group `coordination.k8s.io`. */
export interface GroupResource {
  group: string;
  resource: string;
}

/** An error as a `metav1.Status`. Handlers throw it, the server sends it. */
export class StatusError extends Error {
  override name = 'StatusError';
  readonly code: number;
  readonly reason: string;
  readonly details: Status['details'];
  constructor(code: number, reason: string, message: string, details?: Status['details']) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  status(): Status {
    const status: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      code: this.code,
    };
    if (this.details) status.details = this.details;
    return status;
  }
}

function details(of: GroupResource, name: string): NonNullable<Status['details']> {
  return { ...(name === '' ? {} : { name }), ...(of.group === '' ? {} : { group: of.group }), kind: of.resource };
}

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized');

export function forbidden(of: GroupResource, name: string, why: string): StatusError {
  const what = name === '' ? `${resourceName(of)} is forbidden` : `${resourceName(of)} ${JSON.stringify(name)} is forbidden`;
  return new StatusError(403, 'Forbidden', `${what}: ${why}`, details(of, name));
}

/** 403 for a non-resource path. */
export function pathForbidden(user: string, verb: string, path: string): StatusError {
  return new StatusError(403, 'Forbidden', `forbidden: User ${JSON.stringify(user)} cannot ${verb} path ${JSON.stringify(path)}`, {});
}

export function notFound(of: GroupResource, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${resourceName(of)} ${JSON.stringify(name)} not found`, details(of, name));
}

/** 404 for a path that is not served. */
export const noSuchPath = (): StatusError => new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export function methodNotAllowed(
  of?: GroupResource,
  message = 'the server does not allow this method on the requested resource',
): StatusError {
  return new StatusError(405, 'MethodNotAllowed', message, of ? details(of, '') : {});
}

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export function alreadyExists(of: GroupResource, name: string): StatusError {
  return new StatusError(409, 'AlreadyExists', `${resourceName(of)} ${JSON.stringify(name)} already exists`, details(of, name));
}

export function conflict(of: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${resourceName(of)} ${JSON.stringify(name)}: ${why}`;
  return new StatusError(409, 'Conflict', message, details(of, name));
}

/** The resourceVersion of a write is not the current one. */
export const modified = (of: GroupResource, name: string): StatusError =>
  conflict(of, name, 'the object has been modified; please apply your changes to the latest version and try again');

/** A resourceVersion or continue token that the server no longer remembers. */
export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);

export const tooLarge = (message: string): StatusError => new StatusError(413, 'RequestEntityTooLarge', message);

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** All validation errors, each as a cause. */
export function invalid(kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]): StatusError {
  const what = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new StatusError(422, 'Invalid', `${what} ${JSON.stringify(name)} is invalid: ${fieldErrorsText(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.kind,
    causes: causes(errors),
  });
}

export function resourceVersionTooLarge(requested: number, current: number): StatusError {
  return new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
