// Mistakes of order and form in a command line: the command that was meant, whole, to be pasted.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { shellWord } from '@taintmgr/k8s-adapter/command-line';
import { nearest } from '@taintmgr/k8s-adapter/manifests';
import { childOf, operandsOf, optionNamed, optionsOf, positionOf } from './arguments.ts';
import { namesKind } from './workload-words.ts';

/** A mistake in words, and the words that were meant. */
interface Correction {
  readonly fault: string;
  readonly words: readonly string[];
}

/** The words of a command line, and where those are that are neither flags nor their values. */
interface Line {
  readonly words: readonly string[];
  readonly at: readonly number[];
  readonly program: CommandUnknownOpts;
}

/**
 * `the taint comes before the nodes; did you mean: kubectl taintmgr drain-by-taint a=b node-1`, for a command
 * line that was refused; null: nothing is wrong with its order and form.
 */
export function correctionOf(argv: readonly string[], program: CommandUnknownOpts): string | null {
  if (argv.includes('--') || argv.some((word) => word.trim() === '')) return null;
  const line = { words: argv, at: operandsOf(program, argv), program };
  for (const correct of [spacedTaint, unknownCommand, unknownFlag, ofCommand]) {
    const found = correct(line);
    if (found) return `${found.fault}; did you mean: ${shown(found.words)}`;
  }
  return null;
}

const secrets = ['--token', '--password'];

/** The command as a shell takes it, without secrets. */
function shown(words: readonly string[]): string {
  const safe = words.map((word, index) => {
    const [, flag] = /^(--\w+)=/.exec(word) ?? [];
    if (flag !== undefined && secrets.includes(flag)) return `${flag}=...`;
    return secrets.includes(words[index - 1] ?? '') ? '...' : word;
  });
  return ['kubectl taintmgr', ...safe.map(shellWord)].join(' ');
}

const spaced = /^\s*([\w./-]+)\s*(?:=\s*([\w.-]*))?\s*(?::\s*([A-Za-z-]+))?\s*$/;
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** `maintenance = kernel : noexecute` is `maintenance=kernel:NoExecute`, in one word or in several. */
function spacedTaint({ words, at, program }: Line): Correction | null {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1) ?? '-';
    const isPart = /^(?:[=:]|[=:][\w.-]+)$/.test(word) || /[^-=:][=:]$/.test(last);
    if (last.startsWith('-') || !isPart) joined.push(word);
    else joined.push(`${joined.pop()}${word}`);
  }
  if (joined.length < words.length) return { fault: 'a taint has no spaces', words: joined };
  const name = words[at[0] ?? -1] ?? '';
  const takesTaint = ['drain-by-taint', 'explain', 'undo', 'taint-device'].includes(name);
  if (!takesTaint || !childOf(program, name)) return null;
  const tidied = words.map((word) => tidyTaint(word) ?? word);
  const wrong = words.find((word, index) => word !== tidied[index]);
  if (wrong === undefined) return null;
  const fault = /\s/.test(wrong) ? 'a taint has no spaces' : `unknown effect in ${wrong}`;
  return { fault, words: tidied };
}

/** Null: it is no taint. */
function tidyTaint(text: string): string | null {
  const [, flag = '', taint = text] = /^(--with(?:out)?-taint=)(.*)$/s.exec(text) ?? [];
  const [, key, value, effect] = spaced.exec(taint) ?? [];
  if (key === undefined || key.startsWith('-') || (value === undefined && effect === undefined)) {
    return null;
  }
  const plain = effect?.toLowerCase().replaceAll('-', '');
  const known = effects.find((one) => one.toLowerCase() === plain) ?? effect;
  return `${flag}${key}${value === undefined ? '' : `=${value}`}${known === undefined ? '' : `:${known}`}`;
}

/** The names of commands in other programs. */
const meanings: Readonly<Record<string, readonly string[]>> = {
  'drain-by-taint': ['drain', 'cordon', 'evict', 'taint'],
  undo: ['uncordon', 'untaint', 'rollback', 'revert', 'undrain'],
  explain: ['why', 'when', 'describe', 'show', 'ask'],
  pending: ['get', 'list', 'ls', 'evictions', 'top'],
  history: ['past', 'log', 'logs', 'events', 'who'],
  pause: ['hold', 'stop'],
  resume: ['unpause', 'continue', 'start'],
  simulate: ['what-if', 'whatif', 'play', 'test'],
  web: ['ui', 'dashboard', 'serve'],
  doctor: ['check', 'lint', 'diagnose'],
  status: ['info', 'overview'],
};

function unknownCommand({ words, at, program }: Line): Correction | null {
  const [first, ...others] = at;
  const word = words[first ?? -1];
  if (first === undefined || word === undefined || childOf(program, word)) return null;
  const fault = `unknown command ${JSON.stringify(word)}`;
  const meant = Object.keys(meanings).find((name) => meanings[name]?.includes(word));
  if (meant === 'drain-by-taint') {
    const [taint = '', ...more] = drainOf(words, first, others);
    // A user who sets a taint by hand wants to see its effect first.
    if (word !== 'taint') return { fault, words: ['drain-by-taint', taint, ...more] };
    return { fault, words: ['explain', 'node', ...more, '--with-taint', taint] };
  }
  if (meant === 'pending' || meant === 'undo') {
    return { fault, words: words.filter((_, index) => !others.includes(index)).with(first, meant) };
  }
  if (meant !== undefined) return { fault, words: words.with(first, meant) };
  const explain = childOf(program, 'explain');
  const isKind = (kind: string): boolean =>
    explain !== undefined && childOf(explain, kind) !== undefined;
  const before = (...more: readonly string[]): readonly string[] => [
    ...words.slice(0, first),
    ...more,
    ...words.slice(first),
  ];
  if (namesKind(word, isKind) || /[=:]/.test(word)) return { fault, words: before('explain') };
  const near = nearest(
    word,
    program.commands.map((one) => one.name()),
  );
  return near === null ? null : { fault, words: words.with(first, near) };
}

/** A taint, nodes and flags: `drain node-1` has no taint yet, `taint nodes node-1 a=b:NoExecute` has its taint last. */
function drainOf(
  words: readonly string[],
  first: number,
  others: readonly number[],
): readonly string[] {
  const operands = others
    .map((index) => words[index] ?? '')
    .filter((one) => !/^(?:nodes?|no)$/.test(one));
  const isTaint = (one: string): boolean => /[=:]/.test(one);
  const flags = words.filter((_, index) => index !== first && !others.includes(index));
  const taint = operands.find(isTaint) ?? 'maintenance=kernel';
  return [taint, ...operands.filter((one) => !isTaint(one)), ...flags];
}

/** A flag that the command does not take, where another is near. */
function unknownFlag({ words, program }: Line): Correction | null {
  const { command } = positionOf(program, [...words, '']);
  const names = optionsOf(command).flatMap(({ long }) => long ?? []);
  const at = words.findIndex((word) => isUnknownFlag(command, word));
  const [, flag = '', value = ''] = /^--?([^=]*)(=.*)?$/s.exec(words[at] ?? '') ?? [];
  if (flag === '' || flag === 'help') return null;
  const longer = names.filter((name) => name.startsWith(`--${flag}`));
  const meant = longer.length === 1 ? longer[0] : nearest(`--${flag}`, names);
  if (meant == null) return null;
  return { fault: `unknown flag ${words[at]}`, words: words.with(at, `${meant}${value}`) };
}

/** Short flags may stand together, and before their value: `-nshop`. */
function isUnknownFlag(command: CommandUnknownOpts, word: string): boolean {
  const isTogether = /^-[a-zA-Z](?![a-z]{2}|=)/.test(word);
  return /^--?[a-z]/.test(word) && !isTogether && !optionNamed(command, word);
}

/** Corrects the words after the name of a command; null where they are right. */
function ofCommand(line: Line): Correction | null {
  const { words, at, program } = line;
  const [first = -1, ...others] = at;
  const name = words[first] ?? '';
  const command = childOf(program, name);
  const isGroup = (command?.commands.length ?? 0) > 0;
  if (command && !isGroup && words.some((word) => isUnknownFlag(command, word))) return null;
  const operands = others.map((index) => words[index] ?? '');
  const correct = rules[command?.name() ?? ''];
  const meant = command && correct?.(operands, command, words);
  if (!meant) return null;
  const [fault, ...instead] = meant;
  const flags = words.filter((_, index) => index !== first && !others.includes(index));
  return { fault, words: [name, ...instead, ...flags] };
}

/** The fault, and the words to put after the name of the command in place of its operands; null: no fault. */
type Rule = (
  operands: readonly string[],
  command: CommandUnknownOpts,
  words: readonly string[],
) => readonly [fault: string, ...instead: string[]] | null;

const takesNone = (name: string): string => `${name} takes no argument`;

/** `install crd`: the command of a group that is nearest, or that the words belong to. */
const ofGroup =
  (usual: (word: string) => readonly string[] | null): Rule =>
  ([word, ...more], command) => {
    if (word === undefined || childOf(command, word)) return null;
    const near = nearest(
      word,
      command.commands.map((one) => one.name()),
    );
    const instead = near === null ? usual(word) : [near];
    return (
      instead && [
        `unknown command ${JSON.stringify(`${command.name()} ${word}`)}`,
        ...instead,
        ...more,
      ]
    );
  };

/** A shell makes several words of `-f *.json`. */
function asFiles(
  name: string,
  paths: readonly string[],
  words: readonly string[],
): readonly [fault: string, ...instead: string[]] {
  const fault = hasFile(words) ? 'each file needs its own -f' : takesNone(name);
  return [fault, ...paths.flatMap((path) => ['-f', path])];
}

function hasFile(words: readonly string[]): boolean {
  return words.some((word) => /^(?:-f|--filename)/.test(word));
}

const rules: Readonly<Record<string, Rule>> = {
  'drain-by-taint': ([first, ...others], _, words) => {
    const isWhole = words.some((word) => /^(?:-[lf]|--selector|--filename)/.test(word));
    if (first !== undefined && others.length === 0 && !isWhole && !/[=:]/.test(first)) {
      return ['the taint is missing', 'maintenance=kernel', first];
    }
    const taint = others.find((one) => /[=:]/.test(one));
    if (first === undefined || taint === undefined || /[=:]/.test(first)) return null;
    const nodes = [first, ...others.filter((one) => one !== taint)];
    return ['the taint comes before the nodes', taint, ...nodes];
  },
  pause: ([name]) => (name === undefined ? ['a pause needs a name', 'maintenance'] : null),
  pending: ([word, ...more]) => {
    if (word === undefined) return null;
    if (more.length > 0 || word.includes('/')) return [takesNone('pending')];
    return [takesNone('pending'), '-n', word];
  },
  history: ([word, ...more]) => {
    if (word === undefined || more.length > 0 || word.includes('/')) return null;
    if (namesKind(word, (kind) => /^(?:pods?|po|nodes?|no)$/.test(kind))) return null;
    if (/^\d+[smhd]$/.test(word)) return ['a time is a flag', '--since', word];
    return [`${JSON.stringify(word)} is no kind`, 'pod', word];
  },
  simulate: (operands, _, words) => {
    const [word] = operands;
    if (word === undefined) return null;
    if (['node', 'nodes', 'zone', 'zones'].includes(word)) {
      return [takesNone('simulate'), '--each', word.replace(/s$/, '')];
    }
    if (/\.ya?ml$/.test(word) && operands.length === 1 && !hasFile(words)) {
      return [takesNone('simulate'), '--script', word];
    }
    return /\.\w+$|\/$/.test(word) ? asFiles('simulate', operands, words) : null;
  },
  doctor: (paths, _, words) => (paths.length === 0 ? null : asFiles('doctor', paths, words)),
  web: ([port]) => (/^\d+$/.test(port ?? '') ? [takesNone('web'), '--port', port ?? ''] : null),
  snapshot: ([file]) =>
    file === undefined ? null : [`snapshot writes to standard output, add > ${file}`],
  takeover: ofGroup((word) => ['enable', word]),
  install: ofGroup(() => ['crds']),
  completion: ofGroup(() => ['install']),
};
