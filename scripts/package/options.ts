import { execFileSync } from 'node:child_process';
import { toolsFor, type Arch } from './node-binary.ts';

/** @throws {Error} for an unknown name */
export function chosen<Name extends string>(names: readonly string[], known: readonly Name[]): Name[] {
  const wrong = names.find((name) => !known.includes(name as Name));
  if (wrong !== undefined) throw new Error(`unknown ${wrong}; known: ${known.join(', ')}`);
  return known.filter((name) => names.includes(name));
}

/** Exits with 3 if a program is missing that `npm run COMMAND` needs. @param only - check only these programs */
export function missingTools(command: string, archs: readonly Arch[], only?: readonly string[]): void {
  const tools = Object.entries({ ...Object.assign({}, ...archs.map(toolsFor)), 'apt-get': 'apt' } as Record<string, string>);
  const needed = tools.filter(([tool]) => (only ? only.includes(tool) || tool.endsWith('-strip') : tool !== 'apt-get'));
  const missing = needed.filter(([tool]) => !has(tool));
  if (missing.length === 0) return;
  const names = missing.map(([tool]) => tool).join(', ');
  console.error(`npm run ${command} needs ${names}: apt-get install ${missing.map(([, name]) => name).join(' ')}`);
  process.exit(3);
}

function has(tool: string): boolean {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
