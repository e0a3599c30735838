/** `concertina completion bash|zsh|fish`: scripts that complete commands, options and their values, made of the commands. */
import { type CommandSpec, exitCodes, type OptionSpec, UsageError } from './commandLine';
import type { Command } from './commandServices';

const writers = { bash, zsh, fish } as const;
type Shell = keyof typeof writers;
const shells = Object.keys(writers) as Shell[];

const spec = {
  name: 'completion',
  takes: 'bash | zsh | fish',
  about: 'prints a script that completes commands and options in a shell',
  details: '',
  options: {},
  examples: [
    ['completion bash >> ~/.bashrc', 'in bash, from the next shell on'],
    ['completion zsh > ~/.zfunc/_concertina', 'in zsh, where `fpath+=~/.zfunc` stands before `compinit` in ~/.zshrc'],
    ['completion fish > ~/.config/fish/completions/concertina.fish', 'in fish'],
  ],
} as const satisfies CommandSpec;

/** `others`: all other commands */
export function completionCommand(others: readonly CommandSpec[]): Command {
  return {
    ...spec,
    async run([shell = '', ...more], { print }) {
      if (more.length > 0 || !isShell(shell)) throw new UsageError(`completion takes one of ${shells.join(', ')}.`);
      print(completionScript(shell, [...others, spec]));
      return exitCodes.done;
    },
  };
}

function isShell(word: string): word is Shell {
  return Object.hasOwn(writers, word);
}

export function completionScript(shell: Shell, commands: readonly CommandSpec[]): string {
  return writers[shell](commands);
}

/** What may follow `concertina` and, of a group, its name: `models` stands for all of them. */
function wordsAfter(group: string, commands: readonly CommandSpec[]): string[] {
  const prefix = group === '' ? '' : `${group} `;
  const inside = commands.filter(({ name }) => name.startsWith(prefix));
  return [...new Set(inside.map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? ''))];
}

function groupsOf(commands: readonly CommandSpec[]): string[] {
  return [...new Set(commands.filter(({ name }) => name.includes(' ')).map(({ name }) => name.split(' ')[0] ?? ''))];
}

const flagsOf = ({ options }: CommandSpec) => ['help', ...Object.keys(options)].map((name) => `--${name}`);
const optionsOf = ({ options }: CommandSpec): [string, OptionSpec][] => Object.entries(options);
/** Values of an argument that is one of few words. */
const choicesOf = ({ name }: CommandSpec): readonly string[] => (name === spec.name ? shells : []);

function bash(commands: readonly CommandSpec[]): string {
  const values = new Map(
    commands.flatMap(optionsOf).flatMap(([name, one]) => (one.values ? [[name, one.values]] : [])),
  );
  return `# bash completion of concertina
_concertina() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words=
  COMPREPLY=()
  case "$before" in
${[...values].map(([name, list]) => `    --${name}) COMPREPLY=($(compgen -W "${list.join(' ')}" -- "$word")); return ;;`).join('\n')}
    --*) COMPREPLY=($(compgen -f -- "$word")); [[ $word == -* ]] || return ;;
  esac
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${wordsAfter('', commands).join(' ')} help" -- "$word")); return
  fi
  case "$command" in
${groupsOf(commands)
  .map(
    (group) => `    ${group})
      if ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W "${wordsAfter(group, commands).join(' ')}" -- "$word")); return
      fi
      command="$command \${COMP_WORDS[2]}" ;;`,
  )
  .join('\n')}
  esac
  case "$command" in
${commands.map((one) => `    "${one.name}") words="${[...choicesOf(one), ...flagsOf(one)].join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}
complete -o filenames -F _concertina concertina`;
}

function zsh(commands: readonly CommandSpec[]): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''");
  const described = (list: readonly string[]) =>
    list
      .map((word) => {
        const about = commands.find(({ name }) => name === word || name.endsWith(` ${word}`))?.about ?? '';
        return `'${quoted(`${word}:${groupsOf(commands).includes(word) ? 'models on this machine and on the hub' : about}`)}'`;
      })
      .join(' ');
  const argument = ([name, one]: [string, OptionSpec]) => {
    const action = one.type === 'boolean' ? '' : `:${one.value}:${one.values ? `(${one.values.join(' ')})` : '_files'}`;
    const about = one.about.replace(/[[\]]/g, '').replaceAll(':', '\\:');
    return `'${one.multiple ? '*' : ''}--${name}[${quoted(about)}]${quoted(action)}'`;
  };
  const rest = (one: CommandSpec) =>
    choicesOf(one).length > 0 ? `'1:shell:(${choicesOf(one).join(' ')})'` : "'*:file:_files'";
  return `#compdef concertina
# zsh completion of concertina
_concertina() {
  local command=$words[2] depth=2
  if ((CURRENT == 2)); then
    local -a commands=(${described(wordsAfter('', commands))})
    _describe command commands; return
  fi
${groupsOf(commands)
  .map(
    (group) => `  if [[ $command == ${group} ]]; then
    if ((CURRENT == 3)); then
      local -a commands=(${described(wordsAfter(group, commands))})
      _describe command commands; return
    fi
    command="$command $words[3]" depth=3
  fi`,
  )
  .join('\n')}
  shift $((depth - 1)) words; ((CURRENT -= depth - 1))
  case "$command" in
${commands
  .map(
    (one) =>
      `    '${one.name}') _arguments '--help[explains the command]' ${[...optionsOf(one).map(argument), rest(one)].join(' ')} ;;`,
  )
  .join('\n')}
  esac
}
if [[ $funcstack[1] == _concertina ]]; then _concertina "$@"; else compdef _concertina concertina; fi`;
}

function fish(commands: readonly CommandSpec[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const line = (condition: string, rest: string) => `complete -c concertina -n ${quoted(condition)} ${rest}`;
  const seen = (name: string) =>
    name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
  const aboutOf = (name: string) =>
    commands.find((one) => one.name === name)?.about ?? 'models on this machine and on the hub';
  return [
    '# fish completion of concertina',
    ...wordsAfter('', commands).map((word) =>
      line('__fish_use_subcommand', `-f -a ${word} -d ${quoted(aboutOf(word))}`),
    ),
    ...groupsOf(commands).flatMap((group) => {
      const words = wordsAfter(group, commands);
      const open = `${seen(group)}; and not __fish_seen_subcommand_from ${words.join(' ')}`;
      return words.map((word) => line(open, `-f -a ${word} -d ${quoted(aboutOf(`${group} ${word}`))}`));
    }),
    ...commands.flatMap((one) => [
      ...choicesOf(one).map((word) => line(seen(one.name), `-f -a ${word}`)),
      ...optionsOf(one).map(([name, { type, values, about }]) => {
        const value = type === 'boolean' ? '' : values ? ` -x -a ${quoted(values.join(' '))}` : ' -r';
        return line(seen(one.name), `-l ${name}${value} -d ${quoted(about)}`);
      }),
    ]),
  ].join('\n');
}
