/** One broken rule of one field. `shown` is the offending value as it appears in the message, already quoted; some types show none. */
export interface FieldError {
  field: string;
  type: FieldErrorType;
  detail: string;
  shown?: string;
}

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
});

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { field, type: 'invalid', detail, shown: show(value) };
}

/** An invalid value whose text is given as it should stand in the message. */
export const invalidShown = (field: string, shown: string, detail: string): FieldError => ({ field, type: 'invalid', detail, shown });

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

/** A value of a type of the server's own, which must be one of a few. */
export function notSupportedShown(field: string, shown: string, supported: readonly string[]): FieldError {
  return { ...notSupported(field, '', supported), shown };
}

function show(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}

/** `Invalid value: "x": must be y`: the error without its field, as causes carry it. */
export function errorBody(error: FieldError): string {
  const [text] = types[error.type];
  return [text, error.shown, error.detail].filter((part) => part !== undefined && part !== '').join(': ');
}

/** One error plain, several in brackets; repeated ones once. */
export function fieldErrorsText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${errorBody(error)}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

export function causes(errors: readonly FieldError[]): { reason: string; message: string; field: string }[] {
  return errors.map((error) => ({ reason: types[error.type][1], message: errorBody(error), field: error.field }));
}
