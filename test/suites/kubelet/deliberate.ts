import type { ValidatorAnswer } from '../../support/real-parts/real-kubelet.ts';
import type { Verdict } from './compare.ts';

/** A difference to the kubelet that we want, or can live with. A text is excused only where the condition holds. */
export interface Deliberate {
  why: string;
  excuses(text: string, ours: Verdict, theirs: Verdict, answer: ValidatorAnswer): boolean;
}

const isJson = (text: string): boolean => /^\s*\{/.test(text);

export const deliberate: readonly Deliberate[] = [
  {
    why: 'a first line further right than a later one: goyaml ends the document there and drops the rest in silence; we refuse the text',
    excuses: (text, ours) => /^[ ]+[^ #\n-][^\n]*(?:\n[^\n]*)*\n[a-zA-Z]/.test(text) && ours.stage === 'decode',
  },
  {
    why: 'a comment that touches the bracket before it is one for goyaml only; we refuse the text',
    excuses: (text, ours) => /[\]}"']#/.test(text) && ours.stage === 'decode',
  },
  {
    why: 'infinity or null as a key, in a value that a duplicate key overrides later: we refuse it where it stands',
    excuses: (text, ours, theirs) => /\.(?:nan|inf)|~|null/i.test(text) && theirs.lenient && ours.stage === 'decode',
  },
  {
    why: 'marks of documents, question marks and colons that touch something inside of brackets: YAML readers disagree, and we refuse',
    excuses: (text, ours) => /^(?:---|\.\.\.)|[[{][^\n]*(?:\?|:[^\s])/m.test(text) && ours.stage === 'decode',
  },
  {
    why: 'a mark of a document inside of a bracket that spans lines, or a tag that touches a bracket, is refused by goyaml; the YAML library takes it, and the effective file is written anew without them',
    excuses: (text, _, theirs) => /[[{][^\n]*(?:---|\.\.\.|![^\n ]*[\]},])/.test(text) && theirs.stage === 'decode',
  },
  {
    why: 'JSON that the YAML reader stumbles over (a tab at the start, half a surrogate pair as an escape) only makes it log a warning; the configuration is the same',
    excuses: (text, ours, theirs) => isJson(text) && ours.stage === theirs.stage && theirs.lenient && !ours.lenient,
  },
  {
    why: 'of a key that JSON text repeats, Go reads every value into the same place, so that objects merge and a bad earlier value is an error; we take the last, as the contract says, and the effective file is written anew from that, so that no kubelet sees the text',
    excuses: (text, ours) => isJson(text) && ours.lenient,
  },
  {
    why: 'next line, line separator and paragraph separator end a line for goyaml and not for newer YAML readers: we refuse them',
    excuses: (text, ours) => /[\u0085\u2028\u2029]/.test(text) && ours.stage === 'decode',
  },
  {
    why: 'the escape \\/ in double quotes is refused by goyaml and taken by the YAML library; the effective file is written anew without it',
    excuses: (text, _, theirs) => text.includes('\\/') && theirs.stage === 'decode',
  },
  {
    why: "the escape \\' in double quotes is taken by goyaml and by no other YAML reader; we refuse it",
    excuses: (text, ours) => text.includes("\\'") && ours.stage === 'decode',
  },
  {
    why: 'version __internal is that of the kubelet itself, which reads no field by its name and then misses every value; we refuse it where it stands',
    excuses: (text, ours) => text.includes('/__internal') && ours.stage === 'decode',
  },
  {
    why: 'what goes on inside of brackets at the start of a line, no further right than its key: YAML forbids it and goyaml takes it; we refuse the text',
    excuses: (text, ours, theirs) => /[[{][^\n]*\n[^\s#]/.test(text) && ours.stage === 'decode' && theirs.stage !== 'decode',
  },
  {
    why: 'a kubelet that refuses the cgroup v1 of the machine it runs on leaves out the rules that come after that one; ours do not depend on the host',
    excuses: (_text, ours, theirs, { errors = [] }) =>
      errors.some((error) => error.includes('cgroup v1')) && theirs.fields.every((field) => ours.fields.includes(field)),
  },
  {
    why: 'a colon on the line after its key is refused by goyaml; the YAML library takes it, and the effective file is written anew without it',
    excuses: (text, _, theirs) => /^[^\s#:]+\n\s+:/m.test(text) && theirs.stage === 'decode',
  },
  {
    why: 'a carriage return alone ends a line for goyaml, so that a value goes on behind it; we refuse the text',
    excuses: (text, ours) => /\r(?!\n)/.test(text) && ours.stage === 'decode',
  },
];
