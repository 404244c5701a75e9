import { existsSync } from 'node:fs';

/** Of playwright-core, what the tests of the fleet page use. */
export interface BrowserPage {
  goto(url: string): Promise<unknown>;
  /** Runs before any script of a page that is opened from here on. */
  addInitScript(script: string): Promise<void>;
  /** Chromium's own protocol. */
  context(): { newCDPSession(page: BrowserPage): Promise<{ send(method: string, parameters?: object): Promise<unknown> }> };
  evaluate<T>(body: string): Promise<T>;
  screenshot(options: { path: string }): Promise<Uint8Array>;
  emulateMedia(options: { colorScheme?: 'light' | 'dark'; reducedMotion?: 'reduce' | 'no-preference' }): Promise<void>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  click(selector: string): Promise<void>;
  fill(selector: string, value: string): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  keyboard: { press(key: string): Promise<void> };
  on(event: 'console', handler: (message: { type(): string; text(): string }) => void): void;
  on(event: 'pageerror', handler: (error: Error) => void): void;
  close(): Promise<void>;
}

export interface Browser {
  newPage(options?: { viewport: { width: number; height: number } }): Promise<BrowserPage>;
  close(): Promise<void>;
}

const CHROMIUM = '/usr/bin/chromium';

/** Why no browser can be started here; undefined: one can. */
export function whyNoBrowser(): string | undefined {
  return existsSync(CHROMIUM) ? undefined : "the fleet page needs Debian's package chromium";
}

/** Debian's Chromium without a window. */
export async function startBrowser(): Promise<Browser> {
  // Named by a value: what type-checks the project needs no browser's driver.
  const driver = 'playwright-core';
  const { chromium } = (await import(driver)) as { chromium: { launch(options: object): Promise<Browser> } };
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}
