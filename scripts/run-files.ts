import { spawn } from 'node:child_process';

export interface Ended {
  code: number;
  /** All that was printed, on either stream. */
  text: string;
}

/** Runs test files with Node's runner in one process. @param echo - print as it comes, besides keeping the text */
export function runFiles(files: readonly string[], options: readonly string[], echo: boolean): Promise<Ended> {
  const child = spawn(process.execPath, ['--test', ...options, ...files], { stdio: ['inherit', 'pipe', 'pipe'] });
  let text = '';
  const keep = (stream: NodeJS.WritableStream) => (more: string) => {
    text += more;
    if (echo) stream.write(more);
  };
  child.stdout.setEncoding('utf8').on('data', keep(process.stdout));
  child.stderr.setEncoding('utf8').on('data', keep(process.stderr));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? 1, text })));
}
