import type { Millis } from '../../base/clock.ts';

/** At most one event of this kind in so long, for each pod. */
const TELL_AGAIN_MS: Millis = 10_000;
/** The same once more only now and then: servers forget events after an hour. */
const SAME_AGAIN_MS: Millis = 30 * 60_000;
const REMEMBERED = 20_000;

/** What people were told of why pods wait. Bounded: whoever was told the longest ago may be told again. */
export class ToldRefusals {
  readonly #told = new Map<string, { readonly at: Millis; readonly message: string }>();
  #last = '';

  /** Whether to tell it of this pod now; then it counts as told. @param now - monotonic */
  isNews(uid: string, message: string, now: Millis): boolean {
    const known = this.#told.get(uid);
    if (known !== undefined && now - known.at < (known.message === message ? SAME_AGAIN_MS : TELL_AGAIN_MS)) return false;
    this.#told.delete(uid);
    if (this.#told.size >= REMEMBERED) this.#forgetOldest();
    // Of thousands that wait for the same most are told the same: it is kept once.
    if (message !== this.#last) this.#last = message;
    this.#told.set(uid, { at: now, message: this.#last });
    return true;
  }

  forget(uid: string): void {
    this.#told.delete(uid);
  }

  #forgetOldest(): void {
    const { value } = this.#told.keys().next();
    if (value !== undefined) this.#told.delete(value);
  }
}
