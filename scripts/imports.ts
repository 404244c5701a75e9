import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { apart, badNames, decides, harmless, lazyOnly, levels, mayDoIO, pureRooms, worldly } from './rules.ts';

interface Import {
  from: string;
  to: string;
  line: number;
  typeOnly: boolean;
  lazy: boolean;
}

const rooms = levels.flat();
const files = globSync(rooms.map((room) => `${room}/**/*.ts`)).sort();
const statement = /^(?:import|export)\s+(type\s+)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

/** Comments blanked out, line numbers kept. Strings with `//` in them survive because a comment needs a blank or a line start before it. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|\s)\/\/.*$/gm, '$1');
}

function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(statement)].map((found) => {
    const to = found[2] ?? found[3] ?? found[4] ?? '';
    const line = text.slice(0, found.index).split('\n').length;
    return {
      from,
      to: to.startsWith('.') ? normalize(join(dirname(from), to)) : to,
      line,
      typeOnly: found[1] !== undefined,
      lazy: found[4] !== undefined,
    };
  });
}

const texts = new Map(files.map((file) => [file, withoutComments(readFileSync(file, 'utf8'))]));
const imports = new Map([...texts].map(([file, text]) => [file, importsOf(file, text)]));
const roomOf = (path: string): string => path.split('/')[0] ?? '';
const levelOf = (path: string): number => levels.findIndex((level) => level.includes(roomOf(path)));
const isOurs = (path: string): boolean => rooms.includes(roomOf(path)) && path.endsWith('.ts');

function directionProblems(): string[] {
  return [...imports.values()].flat().flatMap(({ from, to, line }) => {
    if (!isOurs(to)) return [];
    if (roomOf(from) === roomOf(to) || levelOf(from) < levelOf(to) || ['test', 'bench'].includes(roomOf(from))) return [];
    return [`${from}:${line}: ${roomOf(from)}/ may not import ${to}: imports go ${levels.map((level) => level.join(', ')).join(' -> ')}`];
  });
}

function apartProblems(): string[] {
  return [...imports.values()].flat().flatMap(({ from, to, line }) => {
    const rule = apart.find((one) => one.from.test(from) && one.to.test(to));
    return rule === undefined ? [] : [`${from}:${line}: may not import ${to}: it works without`];
  });
}

/** All files that `start` imports at run time, including itself, each with its chain of imports. */
function reach(start: string): Map<string, string[]> {
  const seen = new Map<string, string[]>([[start, [start]]]);
  for (const [file, chain] of seen)
    for (const { to, typeOnly } of imports.get(file) ?? []) if (!typeOnly && !seen.has(to)) seen.set(to, [...chain, to]);
  return seen;
}

/** Whether this file must be pure: in a pure room unless it is listed, elsewhere if it is listed. */
function isPure(file: string): boolean {
  if (decides.some((rule) => rule.test(file))) return true;
  return pureRooms.includes(roomOf(file)) && !mayDoIO.some((rule) => rule.test(file));
}

function purityProblems(): string[] {
  const deciding = files.filter(isPure);
  return deciding.flatMap((file) => {
    const own = worldly.flatMap(({ pattern, what }) => {
      const at = texts.get(file)?.search(pattern) ?? -1;
      return at < 0
        ? []
        : [
            `${file}:${texts.get(file)?.slice(0, at).split('\n').length}: a pure file ${what}; take it as a parameter, or list the file in mayDoIO`,
          ];
    });
    const reached = [...reach(file)].flatMap(([to, chain]) =>
      isOurs(to) || harmless.has(to) ? [] : [`${file}: a pure file reaches ${to} (${chain.join(' -> ')})`],
    );
    return [...own, ...reached];
  });
}

function lazyProblems(): string[] {
  return [...imports.values()].flat().flatMap(({ from, to, line, typeOnly, lazy }) => {
    if (typeOnly || lazy || !lazyOnly.has(to.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')) || levelOf(from) === 0) return [];
    return [`${from}:${line}: ${to} is heavy; reach it by await import()`];
  });
}

/**
 * Import cycles that are active while the files load. Excluded are types, which are erased, and `await import()`, which runs later: neither
 * can use a name that is not initialized yet.
 */
function circleProblems(): string[] {
  const problems: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) problems.push(`${file}: imports itself: ${[...path.slice(at), file].join(' -> ')}`);
    if (at >= 0 || done.has(file)) return;
    for (const { to, typeOnly, lazy } of imports.get(file) ?? []) if (!typeOnly && !lazy) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return problems;
}

/** All violations of the import rules, a line each. */
export function importProblems(): string[] {
  const names = files.filter((file) => badNames.test(file)).map((file) => `${file}: name it by what it holds`);
  return [...names, ...directionProblems(), ...apartProblems(), ...purityProblems(), ...circleProblems(), ...lazyProblems()];
}
