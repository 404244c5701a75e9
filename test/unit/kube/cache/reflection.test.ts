import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { next, startOf } from '../../../../kube/cache/reflection.ts';
import type { ReflectorState, Saw } from '../../../../kube/cache/reflection.ts';

/** `listed 5`, `changed 7`, `expired`. */
function saw(text: string): Saw {
  const [kind = '', rv] = text.split(' ');
  return { kind, ...(rv === undefined ? {} : { rv: rv === 'none' ? undefined : rv }) } as Saw;
}

/** `watching@7`, `listing known@7`, `listing newest whole@7`, `streaming@`. */
function written({ is, rv }: ReflectorState): string {
  return `${is.at}${is.at === 'listing' ? ` ${is.what}${is.inPages ? '' : ' whole'}` : ''}@${rv}`;
}

const through = (streams: boolean, steps: string): string =>
  written(
    steps
      .split(', ')
      .filter(Boolean)
      .reduce((state, step) => next(state, saw(step)), startOf(streams)),
  );

describe('a reflector that lists', () => {
  for (const { why, steps, leads } of [
    { why: 'begins with what the server has at hand', steps: '', leads: 'listing cached@' },
    { why: 'watches what it listed', steps: 'listed 5', leads: 'watching@5' },
    { why: 'moves on with events', steps: 'listed 5, changed 7', leads: 'watching@7' },
    { why: 'moves on with bookmarks', steps: 'listed 5, changed 7, bookmark 19', leads: 'watching@19' },
    { why: 'never moves back', steps: 'listed 5, changed 17, changed 9', leads: 'watching@17' },
    { why: 'doubts in pages what it asked for in one piece', steps: 'listed 5, expired, expired, listed 3', leads: 'listing newest@5' },
    { why: 'believes a list of the same version', steps: 'listed 5, expired, listed 5', leads: 'watching@5' },
    { why: 'stays where it is with an empty version', steps: 'listed 5, changed ', leads: 'watching@5' },
    { why: 'resumes after the end of a watch', steps: 'listed 5, changed 7, closed, failed', leads: 'watching@7' },
    { why: 'asks after a cut how far the server is', steps: 'listed 5, changed 7, cut', leads: 'checking@7' },
    { why: 'resumes where the server is as far', steps: 'listed 5, cut, reached', leads: 'watching@5' },
    { why: 'lists the newest where it is not', steps: 'listed 5, cut, too-new', leads: 'listing newest@5' },
    { why: 'lists what is known where the version has expired', steps: 'listed 5, cut, expired', leads: 'listing known@5' },
    { why: 'lists nothing older than it knows after 410', steps: 'listed 5, changed 7, expired', leads: 'listing known@7' },
    { why: 'lists in one piece when pages expire', steps: 'expired', leads: 'listing newest whole@' },
    { why: 'asks for the newest when the server lags behind', steps: 'listed 5, expired, too-new', leads: 'listing newest@5' },
    { why: 'asks for the newest when even the watch is ahead', steps: 'listed 5, too-new', leads: 'listing newest@5' },
    { why: 'doubts a list that goes back', steps: 'listed 5, expired, listed 3', leads: 'listing newest@5' },
    { why: 'believes it the third time', steps: 'listed 5, expired, listed 3, listed 3, listed 3', leads: 'watching@3' },
    { why: 'forgets its doubts', steps: 'listed 5, expired, listed 3, listed 6, expired, listed 4, listed 4', leads: 'listing newest@6' },
    { why: 'believes versions that it cannot compare', steps: 'listed b, expired, listed a', leads: 'watching@a' },
  ]) {
    test(why, () => assert.equal(through(false, steps), leads));
  }
});

describe('a reflector that streams', () => {
  for (const { why, steps, leads } of [
    { why: 'begins with a watch', steps: '', leads: 'streaming@' },
    { why: 'watches on', steps: 'listed 5, bookmark 8', leads: 'watching@8' },
    { why: 'streams again after 410', steps: 'listed 5, expired', leads: 'streaming@5' },
    { why: 'lists where there is no such watch', steps: 'refused', leads: 'listing cached@' },
    { why: 'never asks again', steps: 'refused, listed 5, expired', leads: 'listing known@5' },
    { why: 'lists after two halves', steps: 'incomplete, incomplete', leads: 'listing cached@' },
    { why: 'lists after two breaks', steps: 'broken, broken', leads: 'listing cached@' },
    { why: 'streams again after two breaks and a list', steps: 'broken, broken, listed 5, expired', leads: 'streaming@5' },
    {
      why: 'does not stream again after two halves and a list',
      steps: 'incomplete, incomplete, listed 5, expired',
      leads: 'listing known@5',
    },
    { why: 'lists nothing older than it knows after two breaks', steps: 'listed 5, expired, broken, broken', leads: 'listing known@5' },
    { why: 'lists the newest when the stream expires', steps: 'expired', leads: 'listing newest@' },
    { why: 'streams when events were lost', steps: 'listed 5, lost', leads: 'streaming@5' },
  ]) {
    test(why, () => assert.equal(through(true, steps), leads));
  }
});
