// Runs the plan of a release, or asks whether it would succeed. What a release that stopped half-way has
// brought to its place is not brought there again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CommandLine, Release, Step, Target } from './plan.ts';
import { run } from './run.ts';

type Print = (text: string) => void;
/** What the place that a step goes to has of this version. */
type Presence = 'nothing' | 'this' | 'another';

/**
 * Publishes what goes to `wanted`. Throws before the first step where not all of it can be published,
 * and where a step fails: repeated, it goes on from there.
 */
export function publish(
  { version, folder }: Release,
  plan: readonly Step[],
  wanted: readonly Target[],
  print: Print,
): void {
  const steps = plan.filter(({ target }) => wanted.includes(target));
  for (const target of wanted.filter((one) => !steps.some((step) => step.target === one))) {
    if (target !== 'krew' || !version.includes('-')) {
      throw new Error(`--publish ${target}: ${folder} has nothing for it`);
    }
    print(`krew: nothing, since ${version} is not final`);
  }
  // All others publish files that are as their checksums say.
  const readsClone = wanted.includes('jsr') || wanted.includes('image');
  const dirty = readsClone ? uncommittedFiles() : [];
  if (dirty.length > 0) throw new Error(dirtyText(dirty));
  const asked = steps.map((step) => ({ step, presence: presenceOf(step) }));
  const other = asked.find(({ presence }) => presence === 'another');
  if (other)
    throw new Error(
      `${other.step.to} has another ${version} already: docs/releases.md says how to go on`,
    );
  for (const { step, presence } of asked) {
    if (presence === 'this') print(`${step.to}\n  is there already`);
    else execute(step, print);
  }
}

function execute({ to, command }: Step, print: Print): void {
  print(`${to}\n  ${command.join(' ')}`);
  const [program, ...args] = command;
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${error?.message ?? `exit ${status}`}`);
}

/**
 * Prints the plan, and whether npm and JSR would take their parts. False where one would not; where
 * `isClean` is wanted, as in CI, also where files are not committed, which stops JSR.
 */
export function askRegistries(plan: readonly Step[], isClean: boolean, print: Print): boolean {
  const dirty = uncommittedFiles();
  print('What would be published where:');
  const answers = plan.map((step) => {
    print(`\n  ${step.to}\n    ${step.command.join(' ')}`);
    return step.target === 'npm' || step.target === 'jsr'
      ? isTaken(step, dirty.length > 0, print)
      : true;
  });
  if (dirty.length > 0) print(`\n${isClean ? 'error' : 'Warning'}: ${dirtyText(dirty)}`);
  return answers.every((one) => one) && !(isClean && dirty.length > 0);
}

function isTaken(step: Step, isDirty: boolean, print: Print): boolean {
  const presence = presenceOf(step);
  if (presence !== 'nothing') {
    // Between two releases the packages have the version of the last one.
    print(
      `    ${step.target} has ${presence === 'this' ? 'it' : 'another of this version'} already`,
    );
    return true;
  }
  const [program, ...args] = step.command.filter((word) => word !== '--provenance');
  const allowed = step.target === 'jsr' && isDirty ? ['--allow-dirty'] : [];
  const { status, stderr, error } = spawnSync(program ?? '', [...args, '--dry-run', ...allowed], {
    encoding: 'utf8',
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  const isWilling = status === 0;
  const fault = error?.message ?? stderr;
  print(`    ${step.target} would ${isWilling ? 'take it' : `refuse it: ${fault}`}`);
  return isWilling;
}

/** A command that fails has found nothing; where it failed for another reason, publishing fails as well. */
function presenceOf({ already }: Step): Presence {
  if (!already) return 'nothing';
  const found = output(already.command);
  if (found === '') return 'nothing';
  const content = readFileSync(already.file);
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const wanted = already.prints === 'integrity' ? integrity : content.toString().trim();
  return found === wanted ? 'this' : 'another';
}

function output([program, ...args]: CommandLine): string {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** What git would list as changed or new, such as `?? mac/`. */
function uncommittedFiles(): readonly string[] {
  const listed = run('.', 'git', 'status', '--porcelain').trimEnd();
  return listed === '' ? [] : listed.split('\n');
}

function dirtyText(files: readonly string[]): string {
  const [first = '', ...others] = files;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  return `not everything is committed, and JSR and the image are made of the clone: ${first.trim()}${more}`;
}
