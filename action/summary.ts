// The summary of a pull request in Markdown: a verdict, the changes for workloads and budgets, limits,
// findings.
import type { AppliedObject, Reading, RunDocument, SimulationDocument } from '@taintmgr/page';
import { budgetRows, type Row, workloadRows } from './changes.ts';
import { amount, cut, duration, list, plain, section, table } from './markdown.ts';

/** A finding in a manifest. */
export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The results of the action, as far as the action could run. */
export interface Done {
  /** Null: no manifests were to be checked, or they could not be read. */
  readonly findings: readonly Finding[] | null;
  /** Null: no cluster was to be simulated, or it could not be. */
  readonly simulation: SimulationDocument | null;
  /** The reason of a failure. */
  readonly faults: readonly string[];
}

/** GitHub takes a mebibyte. */
const bytesMax = 1_000_000;
/** The most rows of a table that people read. */
const rowsMax = 50;
const namesMax = 10;

export function summaryOf(done: Done): string {
  const { findings, simulation, faults } = done;
  const rows = simulation ? workloadRows(simulation) : [];
  const budgets = simulation ? budgetRows(simulation) : [];
  const parts = [
    `## Evictions\n\n**${verdictOf(done, rows, budgets)}**\n\n`,
    section('What could not be done', list(faults.map(plain), rowsMax)),
    simulation ? `${plain(playedText(simulation))}\n\n` : '',
    simulation ? comparedTable('Workload', simulation.runs, rows, 'Never down') : '',
    simulation ? comparedTable('Budget', simulation.runs, budgets, 'Kept, nothing refused') : '',
    simulation ? totals(simulation.runs) : '',
    section('Limits', simulation ? limitTable(simulation) : ''),
    section('Manifests', findingTable(findings ?? [])),
    simulation?.applied ? section('Laid over the cluster', appliedText(simulation)) : '',
    simulation ? section('What the simulation does not know', unknowns(simulation, rows)) : '',
  ];
  return cut(parts.join(''), bytesMax);
}

/** The verdict on the pull request, for readers of one line. */
function verdictOf(
  { findings, simulation, faults }: Done,
  rows: readonly Row[],
  budgets: readonly Row[],
): string {
  const impossible = budgets.filter(({ isMadeImpossible }) => isMadeImpossible);
  const others = budgets.filter((one) => !impossible.includes(one));
  const all = [...rows, ...others.map((one) => ({ ...one, name: `budget ${one.name}` }))];
  const gone = rows.filter(({ isGone }) => isGone);
  const [worse, better] = [/worse$/, /better/].map((which) =>
    all.filter(({ isGone, judgement }) => !isGone && which.test(judgement)),
  );
  const unfinished = simulation?.runs.at(-1)?.rollout?.unfinished ?? [];
  const crossed = simulation?.limits.filter(({ exceeded }) => exceeded) ?? [];
  const unknown = simulation?.limits.filter((limit) => limit.unknown !== undefined) ?? [];
  const errors = findings?.filter(({ level }) => level === 'error') ?? [];
  const clauses = [
    ...clause(impossible, (all) => {
      return `makes ${all.length === 1 ? 'a budget' : 'budgets'} impossible: ${namesOf(all)}`;
    }),
    ...clause(gone, (all) => `leaves no pods of ${namesOf(all)}`),
    ...clause(worse ?? [], (all) => `is worse for ${namesOf(all)}`),
    ...clause(better ?? [], (all) => `is better for ${namesOf(all)}`),
    ...clause(unfinished, (all) => {
      return `does not come to rest: ${namesText(all.map(({ workload }) => workload))}`;
    }),
    ...clause(crossed, (all) => `crosses ${counted(all.length, 'limit')}`),
    ...clause(unknown, (all) => `leaves ${counted(all.length, 'limit')} unknown`),
    ...clause(errors, (all) => `has ${counted(all.length, 'error')} in its manifests`),
    ...clause(faults, () => 'could not be played or checked as a whole'),
  ];
  const closed = impossible.map(({ name }) => `PodDisruptionBudget ${name}`);
  const rules = ruleNames(simulation?.applied ?? []).filter((name) => !closed.includes(name));
  const changed =
    rules.length === 0 ? '' : ` It changes what decides about evictions: ${namesText(rules)}.`;
  if (clauses.length > 0) return `This pull request ${clauses.join('; ')}.${changed}`;
  if (simulation === null) return 'This pull request has no errors in its manifests.';
  if (simulation.runs.length === 1) return 'No limit is crossed.';
  const what = `${counted(rows.length, 'workload')} and ${counted(budgets.length, 'budget')}`;
  const isSame = simulation.applied?.every(({ change }) => change === 'unchanged');
  return `This pull request ${isSame ? 'changes nothing: no difference' : 'makes no difference'} for ${what}.${changed}`;
}

/** Kinds that decide about the pods that leave: the simulation may not show their effect. */
const ruleKinds: readonly string[] = [
  'PodDisruptionBudget',
  'PriorityClass',
  'EvictionPolicy',
  'NodeTaintRule',
  'EvictionPause',
  'Node',
];

function ruleNames(applied: readonly AppliedObject[]): readonly string[] {
  const changed = applied.filter(({ kind, change }) => {
    return change !== 'unchanged' && ruleKinds.includes(kind);
  });
  return changed.map(({ kind, namespace, name }) => {
    return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
  });
}

/** A part of the verdict; none where it is about nothing. */
function clause<Item>(
  items: readonly Item[],
  text: (items: readonly Item[]) => string,
): readonly string[] {
  return items.length === 0 ? [] : [text(items)];
}

function namesOf(rows: readonly Row[]): string {
  return namesText(rows.map(({ name }) => name));
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map(plain).join(', ');
  return names.length > namesMax ? `${shown} and ${names.length - namesMax} more` : shown;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Where, how long and how often it was played, and by whose rules. */
function playedText({ source, script, untilSeconds, seeds, runs }: SimulationDocument): string {
  const events = script === undefined ? '' : ` with ${script}`;
  const often = seeds === undefined ? 'one seed' : `medians of ${seeds} seeds`;
  const rules = [...new Set(runs.map(({ semantics }) => semantics))].join(' and ');
  return `${duration(untilSeconds)} of ${source}${events}, ${often}, by the rules of ${rules}.`;
}

/** The objects with changes or differences; the others by their names. */
function comparedTable(
  what: string,
  runs: readonly RunDocument[],
  rows: readonly Row[],
  untouched: string,
): string {
  const isCompared = runs.length > 1;
  const shown = rows.filter(({ isHarmed, judgement, differences }) => {
    return isHarmed || judgement !== 'no difference' || differences.length > 0;
  });
  const head = [what, ...(isCompared ? runs.map(({ name }) => plain(name)) : ['outcome'])];
  const cells = shown.slice(0, rowsMax).map(({ name, cells, differences, unknown }) => {
    const texts = [`${name}${unknown.length > 0 ? ' ?' : ''}`, ...cells];
    return [...texts, ...(isCompared ? [differences.join(', ') || 'no difference'] : [])].map(
      plain,
    );
  });
  const others = rows.filter((row) => !shown.includes(row)).map(({ name }) => name);
  const rest = [
    ...(shown.length > rowsMax ? [`And ${shown.length - rowsMax} more.`] : []),
    ...(others.length > 0 ? [`${untouched}: ${namesText(others)}.`] : []),
  ];
  const after = rest.length > 0 ? `${rest.join(' ')}\n\n` : '';
  return `${table([...head, ...(isCompared ? ['difference'] : [])], cells)}${after}`;
}

/** The figures of each run that belong to no single workload or budget. */
function totals(runs: readonly RunDocument[]): string {
  const lines = runs.map(({ name, summary: { evictions, refusals, unplaced, totals } }) => {
    const room =
      unplaced.atEnd === 0 ? '' : `, ${counted(unplaced.atEnd, 'pod')} without room at the end`;
    const which = runs.length > 1 ? `${plain(name)}: ` : '';
    const lost = `${amount(totals.podMinutesLost)} pod-minutes lost`;
    return `${which}${lost}, ${counted(evictions, 'eviction')}, ${refusals} refused by budgets${room}`;
  });
  return `${lines.join('; ')}.\n\n`;
}

function limitTable({ limits, seeds }: SimulationDocument): string {
  const rows = limits.map(({ limit, exceeded, unknown, readings, exceededIn }) => {
    if (unknown !== undefined) return [plain(limit), '**unknown**', plain(unknown)];
    const often = exceededIn === undefined ? '' : ` (${exceededIn} of ${seeds} seeds)`;
    return [
      plain(limit),
      `${exceeded ? '**crossed**' : 'ok'}${often}`,
      plain(readingsText(readings)),
    ];
  });
  return table(['Fails if', 'outcome', 'read'], rows);
}

/** `shop/web: 8 after, 6.1 before` */
export function readingsText(readings: readonly Reading[]): string {
  const isOfOne = new Set(readings.map(({ variant }) => variant)).size < 2;
  const byWorst = new Map<string, Set<string>>();
  for (const { worst, variant, unit, value } of readings) {
    const text = `${valueText({ unit, value })}${isOfOne ? '' : ` ${variant}`}`;
    byWorst.set(worst, (byWorst.get(worst) ?? new Set()).add(text));
  }
  return Array.from(byWorst, ([worst, texts]) => `${worst}: ${[...texts].join(', ')}`).join('; ');
}

function valueText({ unit, value }: Pick<Reading, 'unit' | 'value'>): string {
  if (unit === 'seconds') return duration(value);
  return unit === 'percent' ? `${amount(value)}%` : amount(value);
}

function findingTable(findings: readonly Finding[]): string {
  const levels = ['error', 'warning', 'note'];
  const sorted = findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const rows = sorted.slice(0, rowsMax).map(({ level, file, line, text }) => {
    return [level === 'error' ? '**error**' : level, plain(`${file}:${line}`), plain(text)];
  });
  const more = findings.length - rows.length;
  return `${table(['', 'where', 'what'], rows)}${more > 0 ? `And ${more} more.\n` : ''}`;
}

/** The new and the different objects, with their fields; unchanged objects are counted. */
function appliedText({ applied = [], runs }: SimulationDocument): string {
  const different = applied.filter(({ change }) => change !== 'unchanged');
  const unfinished = runs.at(-1)?.rollout?.unfinished ?? [];
  const lines = [
    ...unfinished.map(({ workload, text }) => `${workload} does not come to rest: ${text}`),
    ...different.map((one) => {
      const fields = one.fields.length > 0 ? `: ${one.fields.join('; ')}` : '';
      return `${one.change} ${subjectOf(one)} (${one.file}:${one.line})${fields}`;
    }),
  ];
  const same = applied.length - different.length;
  const rest = same > 0 ? `- ${counted(same, 'object')} as before\n` : '';
  return `${list(lines.map(plain), rowsMax)}${rest}`;
}

function subjectOf({ kind, namespace, name }: AppliedObject): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
}

function unknowns({ notes, missing }: SimulationDocument, rows: readonly Row[]): string {
  const marked = rows.flatMap(({ name, unknown }) => unknown.map((why) => `? ${name}: ${why}`));
  return list([...marked, ...missing, ...notes].map(plain), rowsMax);
}
