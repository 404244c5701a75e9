import { createHook, type AsyncHook } from 'node:async_hooks';

/**
 * Preloaded (`--require`) into processes that run one test file each (hookless.ts). Node's test runner follows every promise and timer with an async hook,
 * so that it can report an uncaught error for the test that caused it. Tests in fake time create millions of promises: the hook took half of their CPU
 * time. Without the hook such an error still fails the file, with the message "generated asynchronous activity after the test ended", but names no test;
 * DKC_TEST_HOOKS=1 keeps the hook. Other files need the hook: with it the runner finds the file of tests and hooks, or their suite.
 */
if (process.env['DKC_TEST_HOOKS'] === undefined) {
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
  prototype.enable = function enable() {
    return this;
  };
}
