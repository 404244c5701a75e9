import { createHook, type AsyncHook } from 'node:async_hooks';

/**
 * Preloaded (`--require`) into processes that run one test file each (hookless.ts). Node's test runner follows every promise and timer with an async hook, so that an error
 * that nobody catches is reported for the test that caused it. Tests in fake time make millions of promises: the hook took half of their processor time. Without it
 * such an error still fails the file, with the words "generated asynchronous activity after the test ended", but names no test; DKC_TEST_HOOKS=1 keeps the hook.
 * Other files need it: tests and hooks find their file, or the suite around them, by it.
 */
if (process.env['DKC_TEST_HOOKS'] === undefined) {
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
  prototype.enable = function enable() {
    return this;
  };
}
