import { asList, asRecord, asText } from '../proto/json.ts';
import { type Duty, duties } from './verdict.ts';

/** What the command line of a kube-controller-manager says about our duties. */
export interface ManagerFlags {
  /** The entries of --controllers; `*` without the flag. */
  readonly controllers: readonly string[];
  /** The entries of --feature-gates, without the component before a colon. */
  readonly featureGates: readonly string[];
  /** Flags come from a variable too: its content is not known. */
  readonly isOpaque: boolean;
}

/** Whether it does a duty (null: not known), and the flag that says so. */
export interface FlagVerdict {
  readonly runs: boolean | null;
  readonly says: string | null;
}

const managerName = 'kube-controller-manager';
/** Names of former days. */
const aliases: Readonly<Record<string, Duty>> = { nodelifecycle: 'node-lifecycle-controller' };
const gate = 'SeparateTaintEvictionController';

/** Reads the flags of the containers of a pod that runs it; a later flag adds to an earlier one. */
export function managerFlags(pod: unknown): ManagerFlags {
  const containers = asList(asRecord(asRecord(pod).spec).containers).map(asRecord);
  const named = containers.filter((container) => JSON.stringify(container).includes(managerName));
  const words = (named.length > 0 ? named : containers).flatMap(({ command, args }) =>
    [...asList(command), ...asList(args)].map(asText).flatMap(shellWords),
  );
  const values = (flag: string): readonly string[] =>
    words.flatMap((word, index) => {
      if (word === flag) return [words[index + 1] ?? ''];
      return word.startsWith(`${flag}=`) ? [word.slice(flag.length + 1)] : [];
    });
  const controllers = values('--controllers').flatMap((value) => value.split(','));
  const featureGates = values('--feature-gates').flatMap((value) => value.split(','));
  return {
    controllers: controllers.length === 0 ? ['*'] : controllers.map((name) => name.trim()),
    featureGates: featureGates.map((entry) => entry.trim().replace(/^\w+:/, '')),
    isOpaque: words.some(isVariable),
  };
}

/** Whether it does a duty, by kube-controller-manager's own rules. */
export function dutyOf(flags: ManagerFlags, duty: Duty): FlagVerdict {
  const verdict = duty === 'taint-eviction-controller' ? taintEviction(flags) : chosen(flags, duty);
  return flags.isOpaque ? { runs: null, says: 'flags from a variable' } : verdict;
}

/** Without its feature gate, taint eviction is a part of the node lifecycle controller. */
function taintEviction(flags: ManagerFlags): FlagVerdict {
  const own = chosen(flags, 'taint-eviction-controller');
  const part = chosen(flags, 'node-lifecycle-controller');
  const set = lastGate(flags, gate);
  if (set === 'false') return { runs: part.runs, says: `--feature-gates=${gate}=false` };
  // Before 1.34 the gate is a beta one, which AllBeta switches too.
  const isDoubtful = set === undefined && lastGate(flags, 'AllBeta') === 'false';
  if (!isDoubtful || own.runs === part.runs) return own;
  return { runs: null, says: '--feature-gates=AllBeta=false' };
}

/** Whether tolerations with Lt and Gt count for it: an alpha feature, which AllAlpha switches too. */
export function comparesNumbers(flags: ManagerFlags): boolean {
  const own = lastGate(flags, 'TaintTolerationComparisonOperators');
  return (own ?? lastGate(flags, 'AllAlpha')) === 'true';
}

/** What names the controller first decides, else `*` does. */
function chosen({ controllers }: ManagerFlags, duty: Duty): FlagVerdict {
  const entry = controllers.find((name) => canonical(name.replace(/^-/, '')) === duty);
  const runs = entry === undefined ? controllers.includes('*') : !entry.startsWith('-');
  const isDefault = controllers.length === 1 && controllers[0] === '*';
  return { runs, says: isDefault ? null : `--controllers=${controllers.join(',')}` };
}

/** As Go reads a boolean: `1` and `T` are true too. */
function lastGate({ featureGates }: ManagerFlags, name: string): 'true' | 'false' | undefined {
  const entry = featureGates.findLast((one) => one.startsWith(`${name}=`));
  const value = entry?.slice(name.length + 1).toLowerCase() ?? '';
  if (['1', 't', 'true'].includes(value)) return 'true';
  return ['0', 'f', 'false'].includes(value) ? 'false' : undefined;
}

function canonical(name: string): string {
  if (Object.hasOwn(aliases, name)) return aliases[name] ?? '';
  return duties.find((duty) => duty === name) ?? '';
}

/** A word as it is; a script of a shell as the words in it, without their quotes. */
function shellWords(word: string): readonly string[] {
  if (!/\s/.test(word)) return [word];
  return word.split(/[\s;&|]+/).map((part) => part.replaceAll(/["']/g, ''));
}

/** `$(FLAGS)`, `${FLAGS}`, `"$@"`; or a flag of ours whose value is one. */
function isVariable(word: string): boolean {
  return /^\$|^--(controllers|feature-gates)=.*\$/.test(word);
}
