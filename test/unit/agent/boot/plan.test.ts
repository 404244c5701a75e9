import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planBoot, type BootFacts, type Candidate } from '../../../../agent/boot/plan.ts';
import { content, source } from '../../../support/builders.ts';

const LOAD = 'failed to load config, see Kubelet log for details';
const INTERNAL = 'internal failure, see Kubelet log for details';
const TRIAL = 'failed trial, see dkc-agent log for details';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A record and what stands behind it: `none`, `?` unknown, `A` usable content A, `A!load` unusable, `A!unsigned` but for its signature, `A*admin` condemned. */
function candidate(text: string, name: string): Candidate {
  if (text === 'none') return { at: 'none' };
  if (text === '?') return { at: 'unknown' };
  const [, letter = '', sign = '', rest = ''] = /^(\w)(.?)(\w*)$/.exec(text) ?? [];
  const from = source(`${name}@${letter}`);
  if (sign === '!' && (rest === 'load' || rest === 'validate' || rest === 'internal')) {
    return { at: 'unusable', source: from, stage: rest, problem: 'a problem' };
  }
  if (rest === 'unsigned') {
    return { at: 'unusable', source: from, stage: 'load', problem: 'kubelet.sig is missing', unsigned: bytes(`effective ${letter}`) };
  }
  if (sign === '*') return { at: 'condemned', source: from, by: rest === 'admin' ? 'admin' : 'agent', reason: 'a reason' };
  return { at: 'usable', source: from, content: content(letter), effective: bytes(`effective ${letter}`) };
}

const local = { ok: { at: 'usable', effective: bytes('effective local') }, missing: { at: 'missing' }, broken: { at: 'broken', problem: 'x' } } as const; // prettier-ignore
const files = { good: { at: 'usable', bytes: bytes('there') }, B: { at: 'usable', bytes: bytes('effective B') }, bad: { at: 'unusable' }, none: { at: 'missing' } } as const; // prettier-ignore

/** The effective file: content that is written, `kept` or `minimal`; `unit`: a kubelet's unit is restarted on it. */
// prettier-ignore
type Row = { why: string; assigned: string; lkg: string; local?: keyof typeof local; file?: keyof typeof files; damaged?: true; refused?: true; unit?: true;
  used: 'assigned' | 'last-known-good' | 'local'; error: string | null; effective: string; promote?: true };

// prettier-ignore
const rows: Row[] = [
  // The table of upstream, row by row
  { why: 'uses local where nothing is assigned', assigned: 'none', lkg: 'none', used: 'local', error: null, effective: 'local' },
  { why: 'goes to local when a torn config has no fall back', assigned: 'A!load', lkg: 'none', used: 'local', error: LOAD, effective: 'local' },
  { why: 'goes to last known good when the config does not load', assigned: 'A!load', lkg: 'B', used: 'last-known-good', error: LOAD, effective: 'B' },
  // Where upstream exits, ours goes on
  { why: 'does not stop the node when neither loads', assigned: 'A!load', lkg: 'B!load', used: 'local', error: LOAD, effective: 'local' },
  { why: 'says that a record was damaged though nothing is assigned', assigned: 'none', lkg: '?', damaged: true, used: 'local', error: INTERNAL, effective: 'local' },
  // Condemned
  { why: 'goes back from what failed its trial', assigned: 'A*agent', lkg: 'B', used: 'last-known-good', error: TRIAL, effective: 'B' },
  // Local missing or broken
  { why: 'leaves the file that is there without a local config', assigned: 'none', lkg: 'none', local: 'missing', file: 'good', used: 'local', error: null, effective: 'kept' },
  { why: 'writes the smallest file without local config and file', assigned: 'none', lkg: 'none', local: 'missing', file: 'none', used: 'local', error: null, effective: 'minimal' },
  { why: 'does not leave the very file that was condemned', assigned: 'A*agent', lkg: 'none', local: 'missing', file: 'good', refused: true, used: 'local', error: TRIAL, effective: 'minimal' },
  { why: 'never writes the smallest file over a local config', assigned: 'A*agent', lkg: 'none', file: 'good', refused: true, used: 'local', error: TRIAL, effective: 'local' },
  // Local missing or broken, and a kubelet of ours: all defaults would cut its node off
  { why: 'gives a kubelet of ours no file of all defaults', assigned: 'none', lkg: 'none', local: 'missing', file: 'none', unit: true, used: 'local', error: INTERNAL, effective: 'kept' },
  { why: 'says the nearer reason when nothing at all can be had', assigned: 'A!load', lkg: 'none', local: 'missing', file: 'none', unit: true, used: 'local', error: LOAD, effective: 'kept' },
  { why: 'leaves even the condemned file when there is nothing to put in its place', assigned: 'A*agent', lkg: 'none', local: 'missing', file: 'good', refused: true, unit: true, used: 'local', error: TRIAL, effective: 'kept' },
  // Signatures: a policy that came later, or a key that was taken away
  { why: 'goes back from what nobody signed', assigned: 'A!unsigned', lkg: 'B', used: 'last-known-good', error: LOAD, effective: 'B' },
  { why: 'goes to local when nothing is signed', assigned: 'A!unsigned', lkg: 'A!unsigned', unit: true, used: 'local', error: LOAD, effective: 'local' },
  { why: 'leaves the file that is there when nothing is signed and there is no local config', assigned: 'A!unsigned', lkg: 'B!unsigned', local: 'missing', file: 'good', unit: true, used: 'local', error: LOAD, effective: 'kept' },
  { why: 'uses an unsigned last known good before a kubelet has no file', assigned: 'A!unsigned', lkg: 'B!unsigned', local: 'missing', file: 'none', unit: true, used: 'last-known-good', error: LOAD, effective: 'B' },
  { why: 'uses it before a file of all defaults', assigned: 'A*agent', lkg: 'B!unsigned', local: 'missing', file: 'good', refused: true, used: 'last-known-good', error: TRIAL, effective: 'B' },
  { why: 'never uses what is unsigned and was never trusted', assigned: 'A!unsigned', lkg: 'none', local: 'missing', file: 'none', unit: true, used: 'local', error: LOAD, effective: 'kept' },
  // Names
  { why: 'trusts content under its new name at once', assigned: 'B', lkg: 'B', used: 'assigned', error: null, effective: 'B', promote: true },
];

for (const row of rows)
  test(`boot ${row.why}`, () => {
    const facts: BootFacts = {
      assigned: candidate(row.assigned, 'assigned'),
      lastKnownGood: candidate(row.lkg, 'trusted'),
      local: local[row.local ?? 'ok'],
      damagedMeta: row.damaged ?? false,
      current: files[row.file ?? 'none'],
      currentIsRefused: row.refused ?? false,
      handsOver: row.unit ?? false,
    };
    const plan = planBoot(facts);
    const wrote = plan.effective.do === 'write' ? new TextDecoder().decode(plan.effective.bytes).replace('effective ', '') : { keep: 'kept', 'write-minimal': 'minimal' }[plan.effective.do]; // prettier-ignore
    assert.deepEqual(
      { used: plan.used, error: plan.error, effective: wrote, promote: plan.promote },
      { used: row.used, error: row.error, effective: row.effective, promote: row.promote ? source('assigned@B') : undefined },
    );
    const from = row.used === 'assigned' ? facts.assigned : row.used === 'last-known-good' ? facts.lastKnownGood : undefined;
    assert.deepEqual(plan.source, from && 'source' in from ? from.source : null);
    assert.deepEqual(plan.content, from?.at === 'usable' ? from.content : undefined);
    assert.notEqual(plan.why, '', 'the log is told a reason');
  });
