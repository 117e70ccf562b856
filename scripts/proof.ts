// Runs what is claimed and writes docs/proof.md: npm run proof -- [--seeds N] [--kubernetes DIR] [ROW...]
// A row that does not run keeps its last result, with its date. The last result of each row and the
// ledger of the seeds are kept in scripts/proof/record.json. Exit 1 when a row or a claim fails.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claimFaults } from './proof/claims.ts';
import { type Played, type ProofRecord, proofPage, type Result, rowFaults } from './proof/page.ts';
import { type Row, rows } from './proof/rows.ts';

interface Flags {
  readonly chosen: readonly Row[];
  /** The seeds to play beyond those of the ledger. */
  readonly seeds: number;
  readonly kubernetes: string | null;
}

/** The output of a command on both streams. */
interface Printed {
  readonly text: string;
  readonly status: number;
}

const root = join(import.meta.dirname, '..');
const recordFile = join(root, 'scripts/proof/record.json');
const pageFile = join(root, 'docs/proof.md');
const printedLinesMax = 20;

try {
  await prove(readFlags());
} catch (error) {
  if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 2;
}

function readFlags(): Flags {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seeds: { type: 'string', default: '500' },
      kubernetes: { type: 'string' },
    },
  });
  const seeds = Number(values.seeds);
  if (!Number.isInteger(seeds) || seeds < 1) {
    throw new RangeError(`--seeds: got "${values.seeds}", want a whole number from 1`);
  }
  const known = rows.map(({ id }) => id);
  const unknown = positionals.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    throw new RangeError(`no row is called "${unknown}", want some of ${known.join(', ')}`);
  }
  const chosen = rows.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
  return { chosen, seeds, kubernetes: values.kubernetes ?? null };
}

/** Runs the rows one after the other, and writes the page after each. */
async function prove({ chosen, seeds, kubernetes }: Flags): Promise<void> {
  const known = new Map<string, Printed>();
  for (const row of chosen) {
    const missing = (row.needs ?? []).filter((name) => !existsSync(join(kubernetes ?? '', name)));
    if (missing.length > 0) {
      say(`${row.id}: not run here, needs ${missing.join(', ')} in --kubernetes DIR`);
      continue;
    }
    const result = row.id === 'seeds' ? null : await resultOf(row, known, kubernetes);
    const record = result
      ? withResult(readRecord(), row, result)
      : await playSeeds(row, readRecord(), seeds);
    report(row, record.results[row.id]);
    write(record);
  }
  const record = readRecord();
  const faults = claimFaults(readFileSync(join(root, 'README.md'), 'utf8'), rows, record);
  for (const fault of faults) say(`README.md: ${fault}`);
  const isFailed = chosen.some((row) => {
    const result = record.results[row.id];
    return result !== undefined && rowFaults(row, result).length > 0;
  });
  if (isFailed || faults.length > 0) process.exitCode = 1;
  say(`written: docs/proof.md, ${chosen.length} rows`);
}

/** Read before each result: several runs may write it by turns. */
function readRecord(): ProofRecord {
  return JSON.parse(readFileSync(recordFile, 'utf8'));
}

function write(record: ProofRecord): void {
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(pageFile, proofPage(rows, record));
}

function withResult(record: ProofRecord, row: Row, result: Result): ProofRecord {
  return { ...record, results: { ...record.results, [row.id]: result } };
}

/** `known`: a command that several rows have runs once. */
async function resultOf(
  row: Row,
  known: Map<string, Printed>,
  kubernetes: string | null,
): Promise<Result> {
  const begun = performance.now();
  const outputs: Printed[] = [];
  for (const command of row.commands) {
    const printed = known.get(command) ?? (await run(command, kubernetes));
    known.set(command, printed);
    outputs.push(printed);
  }
  const peer =
    row.peer === undefined ? {} : { peer: (await run(row.peer, kubernetes)).text.trim() };
  return { ...judged(row, outputs, performance.now() - begun), ...peer };
}

function judged(row: Row, outputs: readonly Printed[], ms: number): Result {
  const text = outputs.map(({ text }) => text).join('\n');
  const failed = outputs.find(({ status }) => status !== 0);
  if (failed) say(failed.text.split('\n').slice(-printedLinesMax).join('\n'));
  const figures = row.figures.flatMap(({ name, read }) => {
    const value = read(text);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    commands: row.commands,
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: machine(),
    seconds: Math.round(ms / 1000),
    status: failed?.status ?? 0,
    figures: Object.fromEntries(figures),
  };
}

/** Plays new seeds, and those that have failed since the ledger began. */
async function playSeeds(row: Row, record: ProofRecord, count: number): Promise<ProofRecord> {
  const begun = performance.now();
  const last = record.seeds.at(-1);
  const from = last === undefined ? 1 : last.from + last.count;
  const again = new Set(record.seeds.flatMap(({ failed }) => failed));
  const left = new Set<number>();
  for (const seed of again) if ((await play(seed, 1)).status !== 0) left.add(seed);
  const printed = await play(from, count);
  const result = judged(row, [printed], performance.now() - begun);
  const played: Played = {
    version: JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')).version,
    commit: result.commit,
    from,
    count,
    failed: Array.from(printed.text.matchAll(/^seed (\d+), .*: violated/gm), ([, seed]) =>
      Number(seed),
    ),
    requests: Number(result.figures['requests to delete or evict'] ?? 0),
  };
  const earlier = record.seeds.map((each) => ({
    ...each,
    failed: each.failed.filter((seed) => left.has(seed)),
  }));
  const status = left.size > 0 ? 1 : result.status;
  return { ...withResult(record, row, { ...result, status }), seeds: [...earlier, played] };
}

function play(seed: number, count: number): Promise<Printed> {
  return run(`npm run -s seeds -- --seed ${seed} --count ${count}`, null);
}

/** The output goes nowhere but into the figures; a failure shows its end. */
async function run(command: string, kubernetes: string | null): Promise<Printed> {
  // As in a shell of its own: npm hands its flags, such as -s, to all that it starts.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const env = { ...Object.fromEntries(own), NO_COLOR: '1', KUBERNETES: kubernetes ?? '' };
  const child = spawn('bash', ['-c', command], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => parts.push(part));
  }
  const [status] = await once(child, 'close');
  return { text: Buffer.concat(parts).toString('utf8'), status: status ?? 1 };
}

function report(row: Row, result: Result | undefined): void {
  const faults = rowFaults(row, result);
  const verdict = faults.length === 0 ? 'passed' : `FAILED: ${faults.join('; ')}`;
  say(`${row.id}: ${verdict}, ${result?.seconds} s`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The commit at hand; `+` where files differ from it that the commands may read. */
function commit(): string {
  const git = (...args: readonly string[]): string =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim();
  const own = [':!docs/proof.md', ':!scripts/proof/record.json', ':!package-lock.json'];
  const isChanged = git('status', '--porcelain', '--', ...own) !== '';
  return `${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? '+' : ''}`;
}

function machine(): string {
  const memory = Math.round(totalmem() / 1e9);
  const { platform, arch, version } = process;
  return `${availableParallelism()} cores, ${memory} GB, ${platform} ${arch}, Node ${version.slice(1)}`;
}
