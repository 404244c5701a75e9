import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, HEAD_BYTES, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-bytes.ts';
import { unreachable } from '../../base/errors.ts';

/** Receives the parts of a list's body. Bytes are valid only until the call returns. */
export interface ListParts {
  /** One element of the top-level `items`: JSON text, not parsed yet. */
  item(text: Uint8Array): void;
  /** Any other top-level field; both are JSON texts, not parsed yet. */
  field(name: Uint8Array, value: Uint8Array): void;
  /** The list `items` begins. */
  items(): void;
  /** An item that has too many bytes; called in place of `item`. @param head - its first bytes. @default such an item is an error */
  tooLarge?: ((head: Uint8Array) => void) | undefined;
}

/** The bytes are not a JSON object, or a part of it exceeds the limit. */
export class ListSyntaxError extends Error {
  override name = 'ListSyntaxError';
  readonly problem: 'garbage' | 'too-large';
  constructor(problem: 'garbage' | 'too-large', message: string) {
    super(message);
    this.problem = problem;
  }
}

/*
 * start --{--> first name --"..."--> colon --:--> value --value--> after value --,--> name
 * value of `items` --[--> first item --item--> after item --,--> item; ]--> after value
 * first name, after value --}--> end
 * Within a name, value or item, `#endOfText` looks for the end of that text.
 */
type At = 'start' | 'first-name' | 'name' | 'colon' | 'value' | 'after-value' | 'first-item' | 'item' | 'after-item' | 'end';

const ITEMS = Buffer.from('"items"');

/** Kind of a byte outside of strings. A plain one is part of a number or word, or is invalid: `JSON.parse` of the text decides. */
const PLAIN = 0;
const BLANK = 1;
const STRING = 2;
const OPEN = 3;
const CLOSE = 4;
const SEPARATOR = 5;
const kinds = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) kinds[byte] = BLANK;
kinds[QUOTE] = STRING;
kinds[OPEN_LIST] = kinds[OPEN_OBJECT] = OPEN;
kinds[CLOSE_LIST] = kinds[CLOSE_OBJECT] = CLOSE;
kinds[COMMA] = kinds[COLON] = SEPARATOR;

/**
 * Splits a Kubernetes list while it arrives, in chunks cut anywhere. Only the grammar of the top level is checked here, and where each text in it ends; texts
 * are passed on to `JSON.parse`, which checks the rest. So exactly the objects that JSON.parse accepts are accepted, except those with two fields `items`.
 */
export class ListDecoder {
  readonly #parts: ListParts;
  readonly #longest: number;
  #at: At = 'start';
  /** Open brackets within the text that is being read. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inText = false;
  /** The text's bytes from chunks before this one. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** The beginning of an item that is too large, until the item ends. */
  #head: Uint8Array | undefined;
  #name: Uint8Array = ITEMS;
  #hadItems = false;

  /** @param longest - bytes of one text; the whole may have any size */
  constructor(parts: ListParts, longest: number) {
    this.#parts = parts;
    this.#longest = longest;
  }

  /** The chunk is not kept after the call, unless it ends within a text. @throws {ListSyntaxError}, and what the parts' receiver throws */
  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (!this.#inText) {
        at = this.#between(chunk, at);
        if (!this.#inText) continue;
      }
      const end = this.#endOfText(chunk, at);
      const length = (end < 0 ? chunk.length : end) - at;
      const tail = chunk.subarray(at, at + length);
      if (this.#head === undefined && this.#heldBytes + length > this.#longest) this.#tooLarge(tail);
      if (this.#head !== undefined) {
        if (end < 0) return;
        at = end;
        this.#inText = false;
        this.#headOver(this.#head);
        continue;
      }
      if (end < 0) {
        this.#held.push(tail);
        this.#heldBytes += length;
        return;
      }
      at = end;
      const text = this.#heldBytes === 0 ? tail : Buffer.concat([...this.#held, tail]);
      if (this.#heldBytes > 0) this.#held = [];
      this.#heldBytes = 0;
      this.#inText = false;
      this.#textOver(text);
    }
  }

  /** Whether the object is complete. Bytes after it must be blank. */
  get isComplete(): boolean {
    return this.#at === 'end';
  }

  /** Reads blanks and punctuation up to the next text; returns where it stopped. */
  #between(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      const kind = kinds[byte];
      if (kind === BLANK) continue;
      switch (this.#at) {
        case 'start':
          this.#expect(byte === OPEN_OBJECT, 'first-name');
          continue;
        case 'colon':
          this.#expect(byte === COLON, 'value');
          continue;
        case 'after-value':
          this.#expect(byte === COMMA || byte === CLOSE_OBJECT, byte === COMMA ? 'name' : 'end');
          continue;
        case 'after-item':
          this.#expect(byte === COMMA || byte === CLOSE_LIST, byte === COMMA ? 'item' : 'after-value');
          continue;
        case 'end':
          throw garbage();
        case 'first-name':
          if (byte === CLOSE_OBJECT) {
            this.#at = 'end';
            continue;
          }
          break;
        case 'first-item':
          if (byte === CLOSE_LIST) {
            this.#at = 'after-value';
            continue;
          }
          break;
        case 'value':
          if (!isItems(this.#name)) break;
          if (this.#hadItems) throw new ListSyntaxError('garbage', 'it has two fields "items"');
          this.#hadItems = true;
          if (byte === OPEN_LIST) {
            this.#parts.items();
            this.#at = 'first-item';
            continue;
          }
          break;
        case 'name':
        case 'item':
          break;
        default:
          return unreachable(this.#at);
      }
      const isName = this.#at === 'first-name' || this.#at === 'name';
      if (isName ? kind !== STRING : kind === CLOSE || kind === SEPARATOR) throw garbage();
      this.#inText = true;
      this.#inString = false;
      this.#depth = 0;
      return at;
    }
    return chunk.length;
  }

  /** Where the text ends in this chunk; -1 when it goes on in the next. */
  #endOfText(chunk: Uint8Array, from: number): number {
    const { length } = chunk;
    let at = from;
    let depth = this.#depth;
    let inString = this.#inString;
    if (this.#escaped && at < length) {
      this.#escaped = false;
      at++;
    }
    // One loop for strings, which are most of a list, and one for all else; neither reads beyond the end, since that would slow down every read.
    while (at < length) {
      if (inString) {
        let byte: number | undefined;
        do byte = chunk[at++];
        while (byte !== QUOTE && byte !== BACKSLASH && at < length);
        if (byte === BACKSLASH) {
          if (at < length) at++;
          else this.#escaped = true;
        } else if (byte === QUOTE) {
          inString = false;
          if (depth === 0) return at;
        }
        continue;
      }
      const kind = kinds[chunk[at] as number];
      at++;
      if (kind === PLAIN) continue;
      if (kind === STRING) inString = true;
      else if (kind === OPEN) depth++;
      else if (depth === 0)
        return at - 1; // a number or word, and what follows it
      else if (kind === CLOSE && --depth === 0) return at;
    }
    this.#depth = depth;
    this.#inString = inString;
    return -1;
  }

  #tooLarge(tail: Uint8Array): void {
    const isItem = this.#at === 'first-item' || this.#at === 'item';
    if (!isItem || this.#parts.tooLarge === undefined)
      throw new ListSyntaxError('too-large', `a part of the list has more than ${this.#longest} bytes`);
    this.#head = Buffer.concat([...this.#held, tail], Math.min(this.#heldBytes + tail.length, HEAD_BYTES));
    this.#held = [];
    this.#heldBytes = 0;
  }

  #headOver(head: Uint8Array): void {
    this.#head = undefined;
    this.#at = 'after-item';
    this.#parts.tooLarge?.(head);
  }

  #textOver(text: Uint8Array): void {
    const at = this.#at;
    if (at === 'first-name' || at === 'name') {
      // The caller may reuse the chunk; the name is needed longer.
      this.#name = Uint8Array.from(text);
      this.#at = 'colon';
    } else if (at === 'first-item' || at === 'item') {
      this.#at = 'after-item';
      this.#parts.item(text);
    } else {
      this.#at = 'after-value';
      this.#parts.field(this.#name, text);
    }
  }

  #expect(isRight: boolean, next: At): void {
    if (!isRight) throw garbage();
    this.#at = next;
  }
}

/** `"items"`, also when its letters are written as escapes. */
function isItems(name: Uint8Array): boolean {
  if (name.length === ITEMS.length) return ITEMS.equals(name);
  if (!name.includes(BACKSLASH)) return false;
  try {
    return JSON.parse(Buffer.from(name).toString('utf8')) === 'items';
  } catch {
    return false; // checked with the field
  }
}

function garbage(): ListSyntaxError {
  return new ListSyntaxError('garbage', 'it is invalid JSON');
}
