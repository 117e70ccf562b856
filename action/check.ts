// The action runs `doctor -f` and `simulate`. Their answers become a summary, annotations at lines,
// files and an exit code. The inputs are in the environment (INPUT_*), since the text of a workflow
// must not become a part of a script. KUBECTL_TAINTMGR names another program than the one of npm,
// with its arguments.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Reading, SimulationDocument } from '@taintmgr/page';
import { type Annotation, annotationLines } from './annotations.ts';
import { type Done, type Finding, readingsText, summaryOf } from './summary.ts';

const { env } = process;

/** The lines of an input that are not blank. */
function linesOf(name: string): readonly string[] {
  const lines = (env[`INPUT_${name}`] ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

function oneOf(name: string, usual = ''): string {
  return linesOf(name)[0] ?? usual;
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Without --prefix a pull request would say in its .npmrc or node_modules whose program runs. */
function published(): readonly string[] {
  const elsewhere = mkdtempSync(join(env.RUNNER_TEMP ?? tmpdir(), 'taintmgr-npx-'));
  const name = `@taintmgr/kubectl-taintmgr@${oneOf('VERSION', 'latest')}`;
  return ['npx', '--yes', '--prefix', elsewhere, name];
}

const [program = '', ...first] = env.KUBECTL_TAINTMGR?.split(/\s+/) ?? published();

function plugin(args: readonly string[]): Ran {
  const { status, signal, stdout, stderr, error } = spawnSync(
    program,
    [...first, ...args, '--color=never'],
    { encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY },
  );
  const ended = signal ? `error: ${program} ended by ${signal}\n` : '';
  const err = error ? `error: ${error.message}\n` : `${stderr}${ended}`;
  return { code: status, out: stdout ?? '', err };
}

/** Null: it is none, as of a program that ended early. */
function jsonOf(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Makes a file with nothing in it, and its folder; or says why that cannot be. */
function madeFile(input: string, file: string): string | null {
  try {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, '');
    return null;
  } catch {
    return `${input}: ${file} cannot be written`;
  }
}

/** The outcome of one of the two commands. */
interface Part {
  readonly isFailed: boolean;
  readonly faults: readonly string[];
  /** The output of the action that names its file; '': there is none. */
  readonly file: string;
  /** The text that the log has beside the summary. */
  readonly log: string;
}

const nothing: Part = { isFailed: false, faults: [], file: '', log: '' };

/** The errors that the plugin prints; without errors, its last line. */
function faultsOf({ code, err }: Ran): readonly string[] {
  const lines = err.split('\n').filter((line) => line.trim() !== '');
  const faults = lines.filter((line) => line.startsWith('error: ')).map((line) => line.slice(7));
  return faults.length > 0 ? faults : [lines.at(-1) ?? `exit code ${code}`];
}

/** The part of SARIF that is read here. */
interface SarifResult {
  readonly level: 'error' | 'warning' | 'note' | 'none';
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number };
    };
  }[];
}

function findingOf({ level, message, locations }: SarifResult): readonly Finding[] {
  const [place] = locations.map(({ physicalLocation }) => physicalLocation);
  if (!place || level === 'none') return [];
  const file = decodeURIComponent(place.artifactLocation.uri.replace(/^file:\/\//, ''));
  return [{ level, file, line: place.region.startLine, text: message.text }];
}

/** `doctor -f`: the faults of the manifests. */
function checkManifests(
  manifests: readonly string[],
): Part & { readonly findings: readonly Finding[] | null } {
  if (manifests.length === 0) return { ...nothing, findings: null };
  const file = oneOf('SARIF', 'taintmgr.sarif');
  const unwritten = madeFile('sarif', file);
  if (unwritten !== null) {
    return { ...nothing, isFailed: true, faults: [unwritten], findings: null };
  }
  // A link that a pull request has put there leads somewhere else.
  rmSync(file);
  const paths = manifests.flatMap((path) => ['-f', path]);
  const ran = plugin(['doctor', ...paths, '-R', '-o', 'sarif']);
  const sarif: { readonly runs: readonly { readonly results: readonly SarifResult[] }[] } | null =
    jsonOf(ran.out);
  if (sarif === null) {
    return { isFailed: true, faults: faultsOf(ran), file: '', log: ran.err, findings: null };
  }
  writeFileSync(file, ran.out);
  const findings = sarif.runs.flatMap(({ results }) => results).flatMap(findingOf);
  return { isFailed: ran.code !== 0, faults: [], file, log: ran.err, findings };
}

/** `simulate`: what an outage makes of the cluster, without the manifests and with them. */
function simulate(
  cluster: readonly string[],
  applied: readonly string[],
): Part & { readonly simulation: SimulationDocument | null } {
  if (cluster.length === 0) return { ...nothing, simulation: null };
  const report = oneOf('REPORT', 'taintmgr.html');
  const unwritten = madeFile('report', report);
  if (unwritten !== null) {
    return { ...nothing, isFailed: true, faults: [unwritten], simulation: null };
  }
  rmSync(report);
  const ran = plugin([
    ...['simulate', ...cluster.flatMap((path) => ['-f', path])],
    ...['--until', oneOf('UNTIL', '30m')],
    ...['--seeds', oneOf('SEEDS', '5'), '--report', report, '-o', 'json'],
    ...linesOf('SCRIPT').flatMap((path) => ['--script', path]),
    ...linesOf('POLICIES').flatMap((path) => ['--policy', path]),
    ...applied.flatMap((path) => ['--apply', path]),
    ...linesOf('FAIL_IF').flatMap((limit) => ['--fail-if', limit]),
  ]);
  const simulation: SimulationDocument | null = jsonOf(ran.out);
  // Limits that are crossed or unknown are in the document.
  const isSaid = simulation?.limits.some(({ exceeded, unknown }) => exceeded || unknown);
  return {
    ...{ isFailed: ran.code !== 0, simulation, log: ran.err },
    file: existsSync(report) ? report : '',
    faults: ran.code === 0 || isSaid ? [] : faultsOf(ran),
  };
}

/** From the root of the repository, as GitHub knows it. */
function placeOf(file: string, line: number): Pick<Annotation, 'file' | 'line'> {
  return { file: relative(env.GITHUB_WORKSPACE ?? '', resolve(file)), line };
}

/** Limits first, since findings about manifests are in code scanning too. */
function annotationsOf({ findings, simulation, faults }: Done): readonly Annotation[] {
  const limits = simulation?.limits ?? [];
  return [
    ...faults.map((fault): Annotation => {
      const [, file = '', line = '', text = ''] = /^(.+?):(\d+)(?::\d+)?: (.*)$/s.exec(fault) ?? [];
      const place = existsSync(file) ? { ...placeOf(file, Number(line)), message: text } : {};
      return { level: 'error', title: 'taintmgr', message: fault, ...place };
    }),
    ...limits.flatMap(({ limit, exceeded, unknown, readings }): readonly Annotation[] => {
      if (unknown !== undefined) {
        return [{ level: 'error', title: `Nobody can tell: ${limit}`, message: unknown }];
      }
      if (!exceeded) return [];
      const place = simulation ? changedPlace(simulation, readings) : {};
      const message = readingsText(readings);
      return [{ level: 'error', title: `Limit crossed: ${limit}`, message, ...place }];
    }),
    ...(findings ?? []).flatMap(({ level, file, line, text }): readonly Annotation[] => {
      if (level === 'note') return [];
      return [{ level, title: 'taintmgr', message: text, ...placeOf(file, line) }];
    }),
  ];
}

/** The manifest of what a limit is about: one that is changed before others. */
function changedPlace(
  { applied = [] }: SimulationDocument,
  readings: readonly Reading[],
): Pick<Annotation, 'file' | 'line'> {
  const meant = applied.filter(({ kind, namespace, name }) =>
    readings.some(({ metric, worst }) => {
      const isBudget = metric === 'refusals' || metric === 'below';
      return isBudget === (kind === 'PodDisruptionBudget') && worst === `${namespace}/${name}`;
    }),
  );
  const object = meant.find(({ change }) => change !== 'unchanged') ?? meant[0];
  return object ? placeOf(object.file, object.line) : {};
}

/** For the log: nothing in it is a command to the runner. */
function inert(text: string): string {
  const stop = randomBytes(16).toString('hex');
  return `::stop-commands::${stop}\n${text.trimEnd()}\n::${stop}::`;
}

function main(): number {
  const [manifests, cluster] = [linesOf('MANIFESTS'), linesOf('CLUSTER')];
  // Without files doctor would examine a cluster.
  if (manifests.length + cluster.length === 0) {
    console.log('::error::taintmgr: want manifests to check, or a cluster to simulate');
    return 1;
  }
  const asked = linesOf('APPLY');
  const applied = asked.length === 0 ? manifests : asked.filter((path) => path !== 'none');
  const checked = checkManifests(manifests);
  const played = simulate(cluster, applied);
  const { findings } = checked;
  const { simulation } = played;
  const done = {
    findings,
    simulation,
    faults: [...new Set([...checked.faults, ...played.faults])],
  };
  const summary = summaryOf(done);
  const summaryFile = join(env.RUNNER_TEMP ?? tmpdir(), 'taintmgr-summary.md');
  writeFileSync(summaryFile, summary);
  if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, summary);
  const outputs = { sarif: checked.file, report: played.file, summary: summaryFile };
  for (const [name, file] of Object.entries(outputs)) {
    if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `${name}=${file}\n`);
  }
  console.log(inert(`${checked.log}${played.log}\n${summary}`));
  for (const line of annotationLines(annotationsOf(done))) console.log(line);
  return checked.isFailed || played.isFailed ? 1 : 0;
}

process.exitCode = main();
