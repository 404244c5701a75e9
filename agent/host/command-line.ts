/** Reads what systemd says of a kubelet's unit. Pure. */

/** `Environment=` as `systemctl show` prints it: blank-separated, an assignment with a blank in quotes. */
export function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(splitWords(text).flatMap((word) => assignment(word)));
}

/** An EnvironmentFile: a line each, `#` and `;` begin comments. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  return Object.fromEntries(lines.filter((line) => line !== '' && !/^[#;]/.test(line)).flatMap((line) => assignment(line)));
}

function assignment(word: string): [string, string][] {
  const at = word.indexOf('=');
  return at <= 0 ? [] : [[word.slice(0, at), splitWords(word.slice(at + 1)).join(' ')]];
}

/** Paths out of `EnvironmentFiles=`: `/var/lib/kubelet/kubeadm-flags.env (ignore_errors=yes)`, one a line. */
export function environmentFilesOf(text: string): string[] {
  return [...text.matchAll(/^(\S.*?) \(ignore_errors=(?:yes|no)\)$/gm)].flatMap(([, path]) => (path === undefined ? [] : [path]));
}

/** Values by name, as `systemctl show` prints them: a name for each line, some names on several. */
export function propertiesOf(shown: string): (name: string) => string {
  const lines = shown.split('\n');
  return (name) =>
    lines
      .filter((line) => line.startsWith(`${name}=`))
      .map((line) => line.slice(name.length + 1))
      .join('\n');
}

/** `argv[]=` out of `ExecStart={ path=... ; argv[]=... ; ignore_errors=no ; ... }`; the last one, since an empty ExecStart= resets. */
export function execStartOf(text: string): string | undefined {
  return [...text.matchAll(/argv\[\]=(.*?) ; ignore_errors=/g)].at(-1)?.[1];
}

/**
 * The arguments that systemd would start the program with: `$NAME` as a separate word splits at blanks, `${NAME}` does not.
 * @returns program first
 */
export function expandCommandLine(argv: string, environment: Readonly<Record<string, string>>): string[] {
  return splitWords(argv).flatMap((word) => {
    const whole = /^\$([A-Za-z_]\w*)$/.exec(word)?.[1];
    if (whole !== undefined) return splitWords(environment[whole] ?? '');
    return [word.replace(/\$\{([A-Za-z_]\w*)\}/g, (_all, name: string) => environment[name] ?? '')];
  });
}

/** Words at blanks; single and double quotes hold one together, a backslash takes the next character as it is. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\' && quote !== "'" && at + 1 < text.length) word = (word ?? '') + text.charAt(++at);
    else if (quote !== '' ? char === quote : char === '"' || char === "'") {
      quote = quote === '' ? char : '';
      word ??= '';
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  return word === undefined ? words : [...words, word];
}

/** Value of the last `NAME=VALUE` or `NAME VALUE` on a command line, as a kubelet takes it; undefined where there is none. */
export function flagValue(name: string, args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg === name ? args[at + 1] : arg.slice(name.length + 1);
}
