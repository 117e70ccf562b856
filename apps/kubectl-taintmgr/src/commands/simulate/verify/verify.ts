// `simulate --verify`: plays what happened from one snapshot to another, and says how far it is off.
import { formatTime, type Millis } from '@taintmgr/core/time';
import { count, rulesOf, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { type Cluster, VirtualClock } from '@taintmgr/sim-cluster';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import { warn, writeTableNotes } from '../../../cli/output.ts';
import type { Invocation } from '../../../cli/registry.ts';
import { printAnswer, readFormat } from '../../../render/printer.ts';
import type { TableOptions } from '../../../render/table.ts';
import { type SimulateFlags, untilMsMax } from '../flags.ts';
import { play } from '../play.ts';
import type { RunResult } from '../result/documents.ts';
import { summarize } from '../result/summary.ts';
import { emptyScript, readScript, type Script } from '../script/script.ts';
import { gather } from '../source/input/gathering.ts';
import { readSource, readText } from '../source/read.ts';
import { snapshotSource } from '../source/snapshot.ts';
import type { ClusterSource } from '../source/source.ts';
import { managerSettings } from '../stage/run.ts';
import { PodTimes } from '../times/pod-times.ts';
import { actorNotes, variantsIn } from '../variants.ts';
import { type After, readAfter } from './after.ts';
import { causesOf } from './causes.ts';
import { type Course, checkRun } from './check.ts';
import { checkDocument, type Verified } from './document.ts';
import { type Happened, whatHappened } from './happened.ts';
import { observedBetween } from './inferred.ts';
import { gapText, type Observed, observedRecording } from './observed.ts';
import { recordReal } from './real.ts';
import { checkTable } from './table.ts';

/** Plays, compares, and prints. `isWhole`: says what of the cluster is missing, and whether to go on. */
export async function verifyCommand(
  invocation: Invocation<SimulateFlags>,
  file: string,
  isWhole: (source: ClusterSource) => boolean,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const after = await readAfter(file);
  const read = await beforeOf(flags, file, after);
  if (!isWhole(read)) return exitCode.error;
  const verified = await verify(invocation, { file, after, read });
  const { source } = verified;
  const [first] = verified.runs;
  const answer = {
    document: checkDocument(verified),
    rows: first?.check.pods ?? [],
    names: (first?.check.pods ?? []).map(({ pod }) => `pod/${pod}`),
    table: (options: TableOptions) => checkTable(verified, options),
  };
  output.write(await printAnswer(answer, format, flags.headers !== false, output));
  writeTableNotes(output, format.kind === 'table', source.notes);
  return exitCode.done;
}

/** The cluster before: of -f, or of the recording itself. */
async function beforeOf(
  { filename }: SimulateFlags,
  file: string,
  after: After,
): Promise<ClusterSource> {
  if (filename !== undefined) {
    const source = await readSource(filename);
    if (source.bringToRest === null) return source;
    throw new UsageError(
      `--verify: ${filename.join(', ')} is a topology, want what a cluster was like: -f BEFORE`,
    );
  }
  if (after.kind === 'recording' && after.before !== null) {
    return snapshotSource(file, gather(file, [after.before]));
  }
  throw new UsageError(`--verify ${file}: it does not say what was before; want -f BEFORE`);
}

interface Inputs {
  readonly file: string;
  readonly after: After;
  readonly read: ClusterSource;
}

async function verify(
  invocation: Invocation<SimulateFlags>,
  { file, after, read }: Inputs,
): Promise<Verified> {
  const { flags, output } = invocation;
  const before = lookAt(read);
  refuseOther(file, after, before);
  const observed = observedIn(file, after, read, before);
  const until = lengthOf(flags, observed, read);
  const graceMs = managerSettings(read, emptyScript).nodeMonitorGracePeriodMs;
  const happened = whatHappened({ observed, before, startsAt: read.startsAt, graceMs });
  const said = flags.script === undefined ? null : await scriptAt(flags.script, until);
  for (const hint of said?.hints ?? []) warn(output, hint);
  const script: Script = said ?? { ...emptyScript, events: happened.events };
  const source = { ...read, notes: [...actorNotes(flags, script, read), ...read.notes] };
  const real = courseOf(recordReal(source, before, observed, happened), until);
  const playedMs = until + marginMs;
  const { seed, seeds } = flags;
  const draws: (readonly RunResult[])[] = [];
  for (let draw = 0; draw < seeds; draw++) {
    const once = {
      ...invocation,
      flags: { ...flags, until: playedMs, seed: seed + draw, seeds: 1 },
    };
    draws.push(
      (await play(source, { script, variants: variantsIn(flags, script, source) }, once, [])).runs,
    );
  }
  const pods = before.list('pods');
  const runs = (draws[0] ?? []).map((run, index) => {
    const own = draws
      .flatMap((draw) => draw[index] ?? [])
      .map((one) => courseOf(one.recording, until, one));
    const check = checkRun({ observed, happened, pods, real, draws: own, until: until / 1000 });
    const causes = causesOf({
      observed,
      check,
      real: real.recording,
      simulated: run.recording,
      seeds,
    });
    return { name: run.name, semantics: rulesOf(run.semantics), check, causes };
  });
  return {
    source,
    ...{ before: source.name, after: file, from: observed.from, startsAt: source.startsAt },
    ...{ untilSeconds: until / 1000, seed, seeds },
    played: said ? (flags.script === undefined ? [] : [flags.script]) : happened.lines,
    unknown: unknownOf(observed, happened, after, source),
    runs,
  };
}

/** Throws UsageError for a snapshot of another cluster, of which nothing here could be foretold. */
function refuseOther(file: string, after: After, before: Cluster['api']): void {
  if (after.kind === 'recording') return;
  const name = 'kube-system';
  const was = before.get('namespaces', '', name)?.metadata.uid;
  const is = after.objects.find((one) => one.kind === 'Namespace' && one.metadata.name === name);
  if (was === undefined || is === undefined || is.metadata.uid === was) return;
  const text = `namespace ${name} has uid ${is.metadata.uid}, before ${was}`;
  throw new UsageError(
    `--verify ${file}: it is of another cluster: ${text}; want a later snapshot of the same`,
  );
}

/** The additional time that is played: a pod that leaves in it is late, and not missing. */
const marginMs: Millis = 60_000;

/** The objects before, as the simulation takes them. */
function lookAt(source: ClusterSource): Cluster['api'] {
  const options = { seed: 1, times: new PodTimes(), resting: null };
  return source.make(new VirtualClock(source.startsAt), options).api;
}

function observedIn(
  name: string,
  after: After,
  { startsAt }: ClusterSource,
  before: Cluster['api'],
): Observed {
  if (after.kind === 'recording') return observedRecording(name, after.lines);
  return observedBetween({ name, before, startsAt, after: after.objects });
}

/** The time that is played. Throws UsageError where there is none. */
function lengthOf(
  flags: SimulateFlags,
  observed: Observed,
  { name, startsAt }: ClusterSource,
): Millis {
  const length = observed.until - startsAt;
  if (length >= 1000 && length <= untilMsMax) return length;
  const [first, second] = [startsAt, observed.until].map((at) => formatTime(at));
  const what = `${name} is of ${first}, ${observed.name} of ${second}`;
  const why = length < 1000 ? 'is not after' : 'is more than 7 days after';
  throw new UsageError(`--verify ${observed.name}: it ${why} ${flags.filename ?? name}: ${what}`);
}

/** Its times count from the beginning. */
async function scriptAt(file: string, until: Millis): Promise<Script> {
  return readScript(file, await readText('--script', file), until);
}

function courseOf(
  recording: Course['recording'],
  until: Millis,
  { unknowns }: Partial<Pick<RunResult, 'unknowns'>> = {},
): Course {
  return { recording, summary: summarize(recording, until / 1000, unknowns) };
}

function unknownOf(
  { unknown, gaps }: Observed,
  { unplayed }: Happened,
  after: After,
  { startsAt }: ClusterSource,
): readonly string[] {
  const unread = after.kind === 'recording' ? after.unread : [];
  return [
    ...unknown,
    ...gaps.map((gap) => gapText(gap, startsAt)),
    ...unplayed.map((what) => `${what}: not played`),
    ...(unread.length === 0
      ? []
      : [
          `${count(unread.length, 'line')} of the recording cannot be read, line ${unread[0]} first`,
        ]),
  ];
}
