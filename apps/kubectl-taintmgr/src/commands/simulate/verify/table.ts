// The error of a simulation, for a person.
import { count, printable } from '@taintmgr/k8s-adapter/command-line';
import { none } from '@taintmgr/k8s-adapter/explain';
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import { lateText, shownSeconds } from './causes.ts';
import type { Check, NodeCheck, PlacementCheck, PodCheck, WorkloadCheck } from './check.ts';
import type { CheckedRun, Verified } from './document.ts';

/** The number of rows that are shown; -o wide shows all. */
const rowsMax = 10;

/** The answer first, then the largest errors, the causes, the unknowns, and what was played. */
export function checkTable(verified: Verified, options: TableOptions): string {
  const { runs } = verified;
  const parts = [
    ...runs.flatMap((run) => runParts(run, runs.length > 1, options)),
    listed('not known:', verified.unknown, options),
    fitting([headline(verified)], options),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function fitting(lines: readonly string[], { wide, width }: TableOptions): string {
  return lines
    .map((line) => (wide ? printable(line) : wrapped(line, '    ', width ?? undefined)))
    .join('\n');
}

function listed(head: string, lines: readonly string[], options: TableOptions): string {
  if (lines.length === 0) return '';
  return fitting([head, ...lines.map((line) => `- ${line}`)], options);
}

function headline({ before, after, untilSeconds, played, seed, seeds }: Verified): string {
  const events =
    played.length === 0 ? 'nothing happened' : `${count(played.length, 'event')} played`;
  const dice = seeds === 1 ? `seed ${seed}` : `seed ${seed} of ${seeds}`;
  const course = before === after ? `of ${after}` : `from ${before} to ${after}`;
  return `${shownSeconds(untilSeconds)} ${course}: ${events}, ${dice}`;
}

function runParts(run: CheckedRun, isOneOfMany: boolean, options: TableOptions): readonly string[] {
  const { check, causes } = run;
  const who = isOneOfMany ? `${run.name}: ` : '';
  return [
    fitting(answerLines(who, check), options),
    podTable(check.pods, options),
    nodeTable(check.nodes, options),
    workloadTable(check.workloads, options),
    listed('causes:', causes, options),
  ];
}

/** Evictions and their error in a line, and below it what explains them. */
function answerLines(who: string, check: Check): readonly string[] {
  const { evictions, foretold, error, placements, pods } = check;
  const wrong = pods.filter(({ outcome }) => outcome === 'not so').length;
  const unforeseen = pods.filter(({ outcome }) => outcome === 'not foretold').length;
  const first = [
    evictions === 0 ? 'no pod was evicted' : `${foretold} of ${evictions} evictions predicted`,
    ...(wrong > 0 ? [`${count(wrong, 'pod')} predicted to leave stayed`] : []),
    ...(error === null
      ? []
      : [
          `median error ${shownSeconds(error.medianSeconds)}, 9 in 10 within ${shownSeconds(error.p90Seconds)}, ` +
            `worst ${lateText(error.worstSeconds)} (${error.worstPod})`,
        ]),
  ];
  const more = [
    ...inOrderText(check),
    ...(placements && placements.real + placements.simulated > 0 ? [placedText(placements)] : []),
    ...(unforeseen > 0
      ? [
          `not predicted: ${count(unforeseen, 'deletion')} by other clients, played as ${unforeseen === 1 ? 'it was' : 'they were'}`,
        ]
      : []),
  ];
  return [`${who}${first.join('; ')}`, ...more.map((text) => `  ${text}`)];
}

/** Where it is chance who goes first: how far the first is off, and the second. */
function inOrderText({ error, errorInOrder }: Check): readonly string[] {
  if (!error || !errorInOrder || errorInOrder.p90Seconds >= error.p90Seconds) return [];
  const { medianSeconds, p90Seconds } = errorInOrder;
  return [
    `in order, whichever pod: median ${shownSeconds(medianSeconds)}, 9 in 10 within ${shownSeconds(p90Seconds)}`,
  ];
}

function placedText({ real, simulated, sameNode, sameZone }: PlacementCheck): string {
  const by = Math.abs(simulated - real);
  const more = by === 0 ? '' : `, ${by} ${simulated > real ? 'more' : 'fewer'} simulated`;
  return `placements: ${sameNode} of ${real} on the same node, ${sameZone} in the same zone${more}`;
}

const podColumns: readonly Column<PodCheck>[] = [
  ['POD', ({ namespace, pod }) => `${namespace}/${pod}`],
  ['NODE', ({ node }) => node],
  ['LEFT', ({ leftAt, by }) => timeText(leftAt, by === null ? 'stayed' : '?')],
  ['SIMULATED', ({ simulatedAt }) => timeText(simulatedAt, 'stayed')],
  ['ERROR', errorText],
  ['BAND', ({ errorBand }) => (errorBand ? bandText(errorBand) : none), 'wide'],
  ['BY', ({ by }) => by ?? none, 'wide'],
];

function errorText({ errorSeconds, outcome }: PodCheck): string {
  if (outcome === 'not foretold') return 'by others';
  if (outcome === 'missed' || outcome === 'not so') return outcome;
  return errorSeconds === null ? '?' : lateText(errorSeconds);
}

function timeText(seconds: number | null, otherwise: string): string {
  return seconds === null ? otherwise : shownSeconds(seconds);
}

function bandText({ least, most }: { readonly least: number; readonly most: number }): string {
  return `${lateText(least)} to ${lateText(most)}`;
}

/** The pods that left, or were due to; unforeseen departures first, then the largest errors. */
function podTable(pods: readonly PodCheck[], options: TableOptions): string {
  const moved = pods.filter(({ outcome, simulatedAt }) => {
    return outcome !== 'stayed' && (outcome !== 'unknown' || simulatedAt !== null);
  });
  const sorted = moved.toSorted((one, other) => weightOf(other) - weightOf(one));
  return shortened(podColumns, sorted, 'pod', options);
}

function weightOf({ outcome, errorSeconds }: PodCheck): number {
  if (outcome === 'missed' || outcome === 'not so') return Number.MAX_VALUE;
  return Math.abs(errorSeconds ?? 0);
}

const nodeColumns: readonly Column<NodeCheck>[] = [
  ['NODE', ({ node }) => node],
  ['UNKNOWN', ({ unknownAt }) => timeText(unknownAt, none)],
  ['SIMULATED', ({ simulatedUnknownAt: at }) => timeText(at, none)],
  ['TAINTED', ({ taintedAt }) => timeText(taintedAt, none)],
  ['SIMULATED', ({ simulatedTaintedAt: at }) => timeText(at, none)],
];

function nodeTable(nodes: readonly NodeCheck[], options: TableOptions): string {
  return shortened(nodeColumns, nodes, 'node', options);
}

const workloadColumns: readonly Column<WorkloadCheck>[] = [
  [
    'WORKLOAD',
    ({ namespace, name, unknown }) => `${namespace}/${name}${unknown === undefined ? '' : ' ?'}`,
  ],
  ['POD-MINUTES', ({ podMinutesLost }) => String(Math.round(podMinutesLost * 10) / 10)],
  [
    'SIMULATED',
    ({ simulatedPodMinutesLost: lost, simulatedBand: band }) => {
      const [one, least, most] = [lost, band?.least ?? lost, band?.most ?? lost].map(
        (value) => Math.round(value * 10) / 10,
      );
      return least === most ? String(one) : `${one} (${least} to ${most})`;
    },
  ],
];

/** Less is shown as 0. */
const podMinutesMin = 0.05;

function workloadTable(workloads: readonly WorkloadCheck[], options: TableOptions): string {
  const harmed = workloads.filter((one) => {
    return Math.max(one.podMinutesLost, one.simulatedPodMinutesLost) >= podMinutesMin;
  });
  const sorted = harmed.toSorted((one, other) => offOf(other) - offOf(one));
  return shortened(workloadColumns, sorted, 'workload', options);
}

function offOf({ podMinutesLost, simulatedPodMinutesLost }: WorkloadCheck): number {
  return Math.abs(podMinutesLost - simulatedPodMinutesLost);
}

function shortened<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  what: string,
  options: TableOptions,
): string {
  if (rows.length === 0) return '';
  const shown = options.wide ? rows : rows.slice(0, rowsMax);
  const table = renderColumns(columns, shown, options);
  const left = rows.length - shown.length;
  return left === 0 ? table : `${table}\nand ${count(left, what)} more with smaller errors`;
}
