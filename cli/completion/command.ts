import { type Command, type Context, fine } from '../command.ts';
import { commands } from '../commands.ts';
import { printable } from '../output/printable.ts';
import { lookUpCandidates } from './lookup.ts';
import { complete, splitLine } from './candidates.ts';

/** Called by the scripts of `dkc completion`: prints a candidate per line, a tab before its description, and `:file` or `:dir` last where files fit. */
export const completeCommand: Command = {
  describe: 'Prints the candidates for the last word of a command line.',
  examples: [{ run: "dkc __complete 'dkc checkpoints sh'", what: 'show' }],
  flags: [],
  positionals: [{ name: 'line', text: 'the line up to the cursor', required: true }],
  async run(context, args) {
    const [, ...words] = splitLine(args.one('line') ?? '');
    const { candidates, files } = await complete(commands, words, lookUpCandidates(context));
    const lines = candidates.map(({ value, text }) => (text === '' ? printable(value) : `${printable(value)}\t${printable(text)}`));
    if (files !== undefined) lines.push(`:${files}`);
    context.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return fine;
  },
};

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The part that a shell runs. All logic is in `dkc __complete`, so an installed script stays correct after an update of dkc. */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# dkc completion for bash. Load it by: source <(dkc completion bash)
_dkc() {
  local typed="\${COMP_LINE:0:COMP_POINT}" cur="\${COMP_WORDS[COMP_CWORD]}" head line value files=
  # bash takes --flag=value for three words, cuts at : and @ as well, and puts a candidate behind the last cut
  case $cur in [=:@]) cur= ;; esac
  while [ "\${typed%"$cur"}$cur" != "$typed" ]; do cur=\${cur%?}; done
  head=\${typed%"$cur"}
  head=\${head##*[[:space:]]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
    :file | :dir) files=\${line#:} ;;
    *)
      value=\${line%%$'\\t'*}
      value=\${value#"$head"}
      # blanks, quotes and the like as the shell reads them, behind the quote that is open
      case $cur in
      \\'*) value=\\'\${value//\\'/\\'\\\\\\'\\'} ;;
      \\"*) value=\\"$(printf %s "$value" | sed 's/[\\\\"$\`]/\\\\&/g') ;;
      *) printf -v value %q "$value" ;;
      esac
      COMPREPLY+=("$value")
      ;;
    esac
  done < <(dkc __complete -- "$typed" 2>/dev/null)
  case "\${COMPREPLY[*]}" in *=) compopt -o nospace 2>/dev/null ;; esac
  case $files in
  file) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur") ;;
  dir) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur") ;;
  esac
  [ -n "$files" ] && compopt -o filenames 2>/dev/null
  return 0
}
complete -F _dkc dkc
`,
  zsh: `#compdef dkc
# dkc completion for zsh. Load it by: source <(dkc completion zsh), after compinit
_dkc() {
  local line files= value
  local -a values texts suffix
  while IFS= read -r line; do
    case $line in
    :file|:dir) files=\${line#:} ;;
    *)
      value=\${line%%$'\\t'*}
      values+=("$value")
      if [[ $line == *$'\\t'* ]]; then texts+=("$value  -- \${line#*$'\\t'}"); else texts+=("$value"); fi
      ;;
    esac
  # of the whole line only this command: others, assignments and sudo may stand before it
  done < <(dkc __complete -- "\${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX" 2>/dev/null)
  [[ $#values == 1 && $values[1] == *= ]] && suffix=(-S '')
  (( $#values )) && compadd -l "\${suffix[@]}" -d texts -a values
  if [[ -n $files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    [[ $files == dir ]] && _files -/ || _files
  fi
}
# from a file of fpath, the first completion runs all of this
if [[ \${funcstack[1]-} == _dkc ]]; then
  _dkc
elif (( $+functions[compdef] )); then
  compdef _dkc dkc
fi
`,
  fish: `# dkc completion for fish. Load it by: dkc completion fish | source
function __dkc_complete
    set -l files
    for line in (dkc __complete -- (commandline -cp) 2>/dev/null)
        switch $line
            case ':file' ':dir'
                set files $line
            case '*'
                echo $line
        end
    end
    # fish compares whole words, so a path behind --flag= keeps the flag
    set -l flag (commandline -ct | string match -r '^--[^=]*=')
    set -l path (commandline -ct | string replace -r '^--[^=]*=' '')
    switch "$files"
        case ':file'
            # as __fish_complete_directories does; __fish_complete_path of fish 3.6 takes a quote for a part of the name
            complete -C "'' $path" | string replace -r '^' -- "$flag"
        case ':dir'
            __fish_complete_directories "$path" | string replace -r '^' -- "$flag"
    end
end
complete -c dkc -f -a '(__dkc_complete)'
`,
};

export const completion: Command = {
  describe:
    'Prints the script that lets a shell complete commands, flags, their values, checkpoints of this node, and names of objects in the cluster, such as nodes, pods and rollouts.',
  examples: [
    { run: 'source <(dkc completion bash)', what: 'for this shell' },
    { run: 'dkc completion bash > /etc/bash_completion.d/dkc', what: 'for all of them' },
    { run: 'dkc completion zsh > "${fpath[1]}/_dkc"', what: 'zsh' },
    { run: 'dkc completion fish > ~/.config/fish/completions/dkc.fish', what: 'fish' },
  ],
  flags: [],
  positionals: [{ name: 'shell', text: 'which shell', required: true, choices: shells }],
  async run(context, args) {
    const shell = shells.find((shell) => shell === args.one('shell')) ?? 'bash';
    context.stdout.write(scripts[shell]);
    return fine;
  },
};

/** Bits of Cobra's ShellCompDirective, which kubectl hands to the shell. */
const NO_FILES = 4;
const FILES = 0;
/** The shell offers only directories. */
const DIRECTORIES = 16;

/**
 * What `kubectl_complete-dkc` prints: kubectl 1.26 and newer runs it with the words after `kubectl dkc`; the last word is being typed. A candidate per line, a
 * tab before its description, and on the last line the directive for the shell.
 * @see https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
 */
export async function completeForKubectl(context: Context, words: readonly string[]): Promise<number> {
  const { candidates, files } = await complete(commands, words, lookUpCandidates(context));
  const lines = candidates.map(({ value, text }) => (text === '' ? printable(value) : `${printable(value)}\t${printable(text)}`));
  const directive = files === undefined ? NO_FILES : files === 'dir' ? DIRECTORIES : FILES;
  context.stdout.write([...lines, `:${directive}`].map((line) => `${line}\n`).join(''));
  return 0;
}
