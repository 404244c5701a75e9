import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../../../support/eventually.ts';
import { configz, dkc } from './node.ts';

/** `dkc why --configz`: fields in which the kubelet runs with another value, marked as differing or as filled in by the kubelet. */
export interface WhyBesideConfigz {
  asked: number;
  code: number | null;
  differs: string[];
  filledIn: string[];
}

/** For every field what `dkc why` says is in effect must be what the kubelet says. */
export async function whyBesideConfigz(): Promise<WhyBesideConfigz> {
  const shown = await eventually('the config of the kubelet', configz);
  writeFileSync('/run/configz.json', JSON.stringify({ kubeletconfig: shown }));
  const { code, stdout, stderr } = dkc('why', '--configz=/run/configz.json', '-o', 'json');
  if (stdout === '') throw new Error(`dkc why --configz ended with ${code}: ${stderr}`);
  const explained = JSON.parse(stdout) as { field: string; value: unknown; running: unknown; differs: boolean }[];
  const others = explained.filter(({ value, running }) => !isDeepStrictEqual(value, running));
  const named = (differs: boolean): string[] => others.filter((one) => one.differs === differs).map(({ field }) => field);
  return { asked: explained.length, code, differs: named(true), filledIn: named(false) };
}
