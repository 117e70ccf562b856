// The page docs/proof.md, from the rows and from what their commands printed last.
import type { Figure, Row } from './rows.ts';

/** The output of the commands of a row in their last run. */
export interface Result {
  readonly commands: readonly string[];
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  readonly seconds: number;
  /** The first exit status that is not 0. */
  readonly status: number;
  readonly figures: Readonly<Record<string, string>>;
  readonly peer?: string;
}

/** Seeds that were played with a version, in a row. */
export interface Played {
  readonly version: string;
  readonly commit: string;
  readonly from: number;
  readonly count: number;
  /** Those that fail since. */
  readonly failed: readonly number[];
  /** The requests to delete or evict pods in them. */
  readonly requests: number;
}

/** scripts/proof/record.json */
export interface ProofRecord {
  readonly results: Readonly<Record<string, Result>>;
  readonly seeds: readonly Played[];
}

const seedsWanted = 1_000_000;

/** Faults of the last result of a row; empty: the row passed. */
export function rowFaults(row: Row, result: Result | undefined): readonly string[] {
  if (result === undefined) return ['it has not run'];
  const faults: string[] = [];
  if (result.status !== 0) faults.push(`a command ended with ${result.status}`);
  const isSame = row.commands.join('\n') === result.commands.join('\n');
  if (!isSame) faults.push('its commands have changed since it ran');
  for (const figure of row.figures) {
    const value = result.figures[figure.name];
    if (value === undefined) faults.push(`${figure.name}: not printed`);
    else if (!isWithin(figure, value))
      faults.push(`${figure.name}: ${value}, want ${boundOf(figure, value)}`);
  }
  return faults;
}

function isWithin({ min, max }: Figure, value: string): boolean {
  if (min === undefined && max === undefined) return true;
  const number = numberOf(value);
  return number >= (min ?? -Infinity) && number <= (max ?? Infinity);
}

/** The number in a figure; of `41 of 42` the share, of `1.2k` and `5.1M` all of it. */
export function numberOf(value: string): number {
  const [, digits, suffix = '', whole] =
    /^([\d,.]+)([kM]?)(?: of ([\d,.]+))?$/.exec(value)?.map((each) => each?.replaceAll(',', '')) ??
    [];
  const number = Number(digits) * (suffix === '' ? 1 : suffix === 'k' ? 1e3 : 1e6);
  return whole === undefined ? number : number / Number(whole);
}

function boundOf({ min, max }: Figure, value: string): string {
  const shown = (bound: number): string =>
    value.includes(' of ') ? `${bound * 100} %` : bound.toLocaleString('en-US');
  const bounds = [
    min === undefined ? [] : `at least ${shown(min)}`,
    max === undefined ? [] : `at most ${shown(max)}`,
  ];
  return bounds.flat().join(' and ');
}

/** The page. */
export function proofPage(rows: readonly Row[], { results, seeds }: ProofRecord): string {
  const ran = rows.filter(({ id }) => results[id] !== undefined);
  const failed = ran.filter((row) => rowFaults(row, results[row.id]).length > 0);
  const machines = [...new Set(ran.map(({ id }) => results[id]?.machine ?? ''))];
  const sum = [
    `${rows.length} rows: ${ran.length - failed.length} passed, ${failed.length} failed`,
    `${rows.length - ran.length} not run. Machine: ${machines.join('; ')}.`,
  ].join(', ');
  const sections = rows.map((row) => {
    const parts = [
      `## ${row.id}`,
      row.claim,
      commandsOf(row, seeds).replace(/^/gm, '    '),
      resultOf(row, results[row.id], machines),
    ];
    if (row.id === 'seeds') parts.push(ledger(seeds));
    return [...parts, row.limits ?? []].flat().join('\n\n');
  });
  return `${[head, sum, ...sections].join('\n\n')}\n`;
}

function commandsOf({ id, commands }: Row, seeds: readonly Played[]): string {
  const text = commands.join('\n');
  const last = seeds.at(-1);
  if (id !== 'seeds' || last === undefined) return text;
  return text.replace('FROM', String(last.from)).replace('COUNT', String(last.count));
}

const head = `# Proof

<!-- Made by npm run proof from scripts/proof. -->

    npm run proof              # runs every row that this machine can run, and writes this page
    npm run proof -- ROW...    # runs these rows; the others keep their results

Claims of the [README](../README.md) link to rows. \`npm test\` fails for a claim without a row, a failed row, and a figure that differs from its row. A commit with \`+\` had changes that were not committed.

Clusters and API servers are simulated; [wire](#wire) compares them with recordings. Unless a row names its version, kube-controller-manager is our model of 1.36.2,
which [decisions](#decisions) checks.`;

function resultOf(row: Row, result: Result | undefined, machines: readonly string[]): string {
  if (result === undefined) {
    return `**Not run**${row.needs ? `: needs ${row.needs.join(', ')} in \`--kubernetes DIR\`` : ''}.`;
  }
  const faults = rowFaults(row, result);
  const verdict = faults.length === 0 ? '**Passed**' : `**FAILED** (${faults.join('; ')})`;
  const { date, commit, machine, seconds, peer } = result;
  const where = machines.length > 1 ? `, ${machine}` : '';
  const values = row.figures.flatMap((figure) => {
    const value = result.figures[figure.name];
    return value === undefined ? [] : shownFigure(figure, value);
  });
  const beside = peer === undefined ? '' : ` Beside ${peer}.`;
  const lines = [`${verdict} on ${date}, commit ${commit}${where}, ${seconds} s.${beside}`, ''];
  return [...lines, ...values.map((value) => `- ${value}`)].join('\n');
}

function shownFigure(figure: Figure, value: string): string {
  const number = Number(value);
  const shown = Number.isInteger(number) ? number.toLocaleString('en-US') : value;
  const isAll = value.includes(' of ') && figure.min === 1;
  const bound = isAll ? '' : boundOf(figure, value);
  const unit = figure.unit === undefined ? '' : ` ${figure.unit}`;
  return `${figure.name}: ${shown}${unit}${bound === '' ? '' : ` (${bound})`}`;
}

/** The seeds by version: the sum is the promise. */
function ledger(seeds: readonly Played[]): string {
  const total = seeds.reduce((sum, { count }) => sum + count, 0);
  const versions = [...new Set(seeds.map(({ version }) => version))];
  const lines = versions.map((version) => {
    const runs = seeds.filter((run) => run.version === version);
    const sum = (of: (run: Played) => number): string =>
      runs.reduce((all, run) => all + of(run), 0).toLocaleString('en-US');
    const first = Math.min(...runs.map(({ from }) => from));
    const last = Math.max(...runs.map(({ from, count }) => from + count - 1));
    const span = `${first.toLocaleString('en-US')} to ${last.toLocaleString('en-US')}`;
    const failed = sum((run) => run.failed.length);
    return `- ${version}: ${span}, ${failed} fail, ${sum((run) => run.requests)} requests to delete or evict`;
  });
  const all = `${total.toLocaleString('en-US')} of ${seedsWanted.toLocaleString('en-US')} seeds played, none twice:`;
  return [all, '', ...lines].join('\n');
}
