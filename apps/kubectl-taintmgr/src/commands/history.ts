// Says which pods left or are leaving, who evicted them and why: history.
import type { Millis } from '@taintmgr/core/time';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { count, printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  FlightDepartures,
  type HistorySubject,
  history,
  type OwnerKind,
  type ToldDeparture,
} from '@taintmgr/k8s-adapter/history';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import type { OutputFlags } from '../cli/common-flags.ts';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import { type Output, warn, writeNotes } from '../cli/output.ts';
import type { Invocation } from '../cli/registry.ts';
import { isObjectName } from '../cli/values.ts';
import { workloadKindOf } from '../cli/workload-words.ts';
import { podElsewhere } from '../cluster/elsewhere.ts';
import { printAnswer, readFormat } from '../render/printer.ts';
import { historyAnswer } from '../report/history.ts';

/** The command line of `history`. */
export interface HistoryFlags extends OutputFlags {
  readonly allNamespaces?: true | undefined;
  readonly since?: Millis | undefined;
  readonly flightRecord?: string | undefined;
}

/** `history [pod|node|WORKLOAD NAME]` */
export async function run(
  invocation: Invocation<HistoryFlags>,
  first: string | undefined,
  second: string | undefined,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const flights =
    flags.flightRecord === undefined ? [] : await flightsIn(flags.flightRecord, output);
  return await withConnection(invocation, async ({ client, cluster }) => {
    const subject = subjectOf(first, second, cluster.namespace, flags.allNamespaces === true);
    const since = flags.since === undefined ? {} : { since: Date.now() - flags.since };
    const options = { ...since, flights };
    const found = await history(client, subject, options);
    const { missing } = found;
    if (missing && found.stories.length === 0) {
      output.err(printable(missing.message));
      output.err(`${nobodyLeft(subject)} Looked at: ${printable(found.looked)}.`);
      writeNotes(output, found.notes);
      return exitCode.error;
    }
    if (found.stories.length === 0 && format.kind === 'table') {
      output.err(`${nobodyLeft(subject)} Looked at: ${printable(found.looked)}.`);
    } else {
      const answer = historyAnswer(found, subject.kind === 'pod');
      output.write(await printAnswer(answer, format, flags.headers !== false, output));
    }
    writeNotes(output, found.notes);
    const hint = found.stories.length === 0 ? await elsewhere(client, subject, options) : null;
    if (hint !== null) output.err(`hint: ${printable(hint)}`);
    if (found.stories.length > 0 && format.kind === 'table' && subject.kind !== 'pod') {
      output.err(nextText(subject, missing !== null));
    }
    return exitCode.done;
  });
}

/** Where the answer may be instead, if nothing was found; null: nowhere, or no right to see it. */
async function elsewhere(
  client: ApiClient,
  subject: HistorySubject,
  options: Parameters<typeof history>[2],
): Promise<string | null> {
  if (subject.kind === 'pod') return await podElsewhere(client, 'history', subject.name);
  if (subject.kind !== 'namespace' || subject.namespace === null) return null;
  try {
    const { stories } = await history(client, { kind: 'namespace', namespace: null }, options);
    const found = `${count(stories.length, 'pod')} left other namespaces`;
    return stories.length === 0 ? null : `${found}: kubectl taintmgr history -A`;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** The departures of a flight record. Throws UsageError. */
async function flightsIn(file: string, output: Output): Promise<readonly ToldDeparture[]> {
  const { readFlight } = await import('../cluster/flight.ts');
  const flight = new FlightDepartures();
  let latest = 0;
  for await (const line of readFlight(file, '--flight-record')) {
    if (line.kind === 'cut') {
      warn(output, `${file}:${line.line}: the last line is cut off; all before it was read`);
    }
    if (line.kind !== 'step') continue;
    flight.take(line.step);
    latest = line.step.at;
  }
  return flight.departures(latest);
}

/** Throws UsageError. */
function subjectOf(
  first: string | undefined,
  second: string | undefined,
  namespace: string,
  ofAll: boolean,
): HistorySubject {
  if (first === undefined) return { kind: 'namespace', namespace: ofAll ? null : namespace };
  const [word = '', ...more] = second === undefined ? first.split('/') : [first, second];
  const name = more.join('/');
  const kind = kindOf(word);
  if (kind === null) throw new UsageError(unknownKind(first, second));
  if (!isObjectName(name)) throw new UsageError(wantName(word, name));
  if (kind === 'node') return { kind, name, namespace };
  if (ofAll) throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  if (kind === 'pod') return { kind, namespace, name };
  if (kind === 'Namespace') return { kind: 'namespace', namespace: name };
  return { kind: 'workload', workload: kind, namespace, name };
}

/** As kubectl names kinds; null: it is none that pods leave. */
function kindOf(word: string): 'pod' | 'node' | OwnerKind | 'Namespace' | null {
  if (['pod', 'pods', 'po'].includes(word)) return 'pod';
  if (['node', 'nodes', 'no'].includes(word)) return 'node';
  const kind = workloadKindOf(word);
  return kind === 'PodDisruptionBudget' || kind === 'node-or-pod' ? null : kind;
}

const kindWords: readonly string[] = [
  ...['pod', 'node', 'deployment', 'statefulset', 'daemonset', 'replicaset', 'job', 'namespace'],
];

function unknownKind(first: string, second: string | undefined): string {
  const got = JSON.stringify(second === undefined ? first : `${first} ${second}`);
  const [word = '', name = second] = first.split('/');
  const wanted = `history: got ${got}, want ${kindWords.slice(0, -1).join(', ')} or ${kindWords.at(-1)}, and a name`;
  const meant = didYouMean(word, kindWords);
  if (meant !== '') return `${wanted}${meant}`;
  if (workloadKindOf(word) === 'PodDisruptionBudget')
    return `${wanted}; a budget has no pods of its own: kubectl taintmgr explain pdb ${name ?? 'NAME'}`;
  const example = isObjectName(word) && name === undefined ? word : 'web-0';
  return `${wanted}, such as pod ${example} or deployment/${name === undefined ? example : 'web'}`;
}

function wantName(kind: string, name: string): string {
  if (name !== '')
    return `history ${kind}: got ${JSON.stringify(name)}, want the name of an object`;
  return `history ${kind}: got none, want the name of an object: history ${kind} NAME; all that left: history -A`;
}

/** The table says who left; the next questions are who else will, and one story in full. */
function nextText(subject: Exclude<HistorySubject, { kind: 'pod' }>, isMissing: boolean): string {
  const whole = `one story in full: history pod NAME${subject.kind === 'node' ? ' -n NAMESPACE' : ''}`;
  return `hint: ${isMissing ? '' : `who leaves next: kubectl taintmgr ${whoNext(subject)}; `}${whole}`;
}

function whoNext(subject: Exclude<HistorySubject, { kind: 'pod' }>): string {
  switch (subject.kind) {
    case 'namespace':
      return `pending ${subject.namespace === null ? '-A' : `-n ${subject.namespace}`}`;
    case 'node':
      return `explain node ${subject.name}`;
    case 'workload':
      return `explain ${subject.workload.toLowerCase()} ${subject.name} -n ${subject.namespace}`;
  }
}

function nobodyLeft(subject: HistorySubject): string {
  switch (subject.kind) {
    case 'namespace':
      return subject.namespace === null
        ? 'No record of a pod that left.'
        : `No record of a pod that left in ${subject.namespace} namespace.`;
    case 'node':
      return `No record of a pod that left node ${subject.name}.`;
    case 'pod':
      return `No source says that pod ${subject.namespace}/${subject.name} left or is leaving.`;
    case 'workload':
      return `No record of a pod of ${subject.workload} ${subject.namespace}/${subject.name} that left.`;
  }
}
