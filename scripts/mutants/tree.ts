import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A copy of the project's files in a temporary directory, for planting faults. `node_modules` is a link to the real one. */
export class Tree {
  readonly root = mkdtempSync(join(tmpdir(), 'dkc-mutants-'));

  /** @param commit - source of the files; undefined: the working tree */
  constructor(commit: string | undefined) {
    if (commit === undefined) copyWorkingTree(this.root);
    else execFileSync('tar', ['-x', '-C', this.root], { input: execFileSync('git', ['archive', commit], { maxBuffer: 1 << 30 }) });
    symlinkSync(resolve('node_modules'), join(this.root, 'node_modules'));
  }

  read(file: string): string {
    return readFileSync(join(this.root, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.root, file), text);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function copyWorkingTree(to: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  const deleted = new Set(execFileSync('git', ['ls-files', '-z', '--deleted'], { encoding: 'utf8' }).split('\0'));
  for (const file of listed.split('\0').filter((name) => name !== '' && !deleted.has(name))) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(file, join(to, file), { verbatimSymlinks: true });
  }
}
