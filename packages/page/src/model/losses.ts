// Losses in words: the worst one, the workloads that each harms, the time, the budgets that break, and the
// pods without room.
import type { EachDocument, Loss, LossWorkload } from '../each.ts';
import type { JobSummary } from '../simulation.ts';
import type { LossesInWords, LossInWords } from '../what-if.ts';
import type { Figure, Headline } from './headline.ts';
import { count, duration } from './words.ts';
import { shortName } from './workloads.ts';

/** Names a loss of a document. */
export function lossKey({ name, taint }: Loss): string {
  return taint === undefined ? name : `${name} ${taint}`;
}

/** `zone eu/eu-a`, `node node-1`, `rack=rack-7`, `nodes without rack` */
export function partOf({ each }: EachDocument, { name }: Pick<Loss, 'name'>): string {
  if (isRest(name)) return `nodes ${name}`;
  return each === 'zone' || each === 'node' ? `${each} ${name}` : `${each}=${name}`;
}

/** Tells whether the name stands for the nodes of no zone, or without the label. */
export function isRest(name: string): boolean {
  return name.startsWith('without ');
}

/** `the loss of zone eu/eu-a`, for the beginning of a sentence. */
export function lossText(input: EachDocument, loss: Loss): string {
  const part = partOf(input, loss);
  switch (input.by) {
    case 'down':
      return `the loss of ${part}`;
    case 'cut-off':
      return `the isolation of ${part}`;
    case 'drain':
      return `the drain of ${part}`;
    case 'taint':
      return `the taint ${loss.taint ?? ''} on ${part}`;
  }
}

/** The worst first; pods of DaemonSets cannot go elsewhere, and come after the others. */
export function worstFirst(workloads: readonly LossWorkload[]): readonly LossWorkload[] {
  return [...workloads].sort((one, other) => {
    return isOfNodes(one) - isOfNodes(other) || other.podMinutesLost - one.podMinutesLost;
  });
}

export function isOfNodes({ kind }: Pick<LossWorkload, 'kind'>): number {
  return kind === 'DaemonSet' ? 1 : 0;
}

/** `3 of 4 down for 9m12s`, or that it only moved. */
export function harmText({
  downMax,
  downWorstWanted,
  downSeconds,
  evictions,
}: LossWorkload): string {
  if (downMax === 0) return `never down, ${count(evictions, 'eviction')}`;
  return `${downMax} of ${downWorstWanted} down for ${duration(downSeconds)}`;
}

/** The loss that hurts most, with the workload; null: none takes a pod of any workload down. */
function worstIn({
  losses,
}: EachDocument): { readonly loss: Loss; readonly first: LossWorkload } | null {
  const loss = losses.find((one) => one.failed === null && one.podMinutesLost > 0);
  const [first] = loss ? worstFirst(loss.workloads) : [];
  return loss && first ? { loss, first } : null;
}

/** The figures that the page opens with. */
export function lossHeadline(input: EachDocument): Headline {
  const worst = worstIn(input);
  if (!worst) return { caption: '', figures: [] };
  const { loss, first } = worst;
  const { downSeconds, downMax, downWorstWanted } = first;
  const figure: Figure = {
    ...{ variant: null, time: duration(downSeconds), difference: '' },
    details: [
      [`${downMax} of ${downWorstWanted}`, `pods of ${shortName(first)} down at once`],
      [minutesText(loss.podMinutesLost), 'pod-minutes lost in all'],
      [String(loss.evictions), loss.evictions === 1 ? 'eviction' : 'evictions'],
    ],
  };
  const of = count(input.losses.length, 'loss', 'losses');
  return { caption: `The worst of ${of}: ${lossText(input, loss)}`, figures: [figure] };
}

/** The sentence that goes with the figures. */
export function lossSentence(input: EachDocument): string {
  const played = input.losses.filter(({ failed }) => failed === null);
  if (played.length === 0) return 'No loss was played.';
  const worst = worstIn(input);
  if (!worst) {
    const jobs = new Set(played.flatMap((loss) => loss.jobs ?? []).map(jobKey)).size;
    const but = jobs === 0 ? '' : `; pods of ${count(jobs, 'Job')} are lost`;
    return `${count(played.length, 'loss', 'losses')} played: none takes a pod of any workload down${but}.`;
  }
  const { loss, first } = worst;
  const others = loss.workloads.length - 1;
  const more =
    others === 0 ? '' : ` ${count(others, 'more workload is', 'more workloads are')} affected.`;
  return (
    `${capital(lossText(input, loss))} hurts most: pods of ${shortName(first)} are down for ` +
    `${duration(first.downSeconds)}, at most ${first.downMax} of ${first.downWorstWanted} at once.${more}`
  );
}

/** The number of losses with a line. */
const linesMax = 200;

/** A line for each loss, as the page of a live cluster shows them. */
export function lossesInWords(input: EachDocument, playedAt: number): LossesInWords {
  const { losses, unplayed } = input;
  const lines = losses.slice(0, linesMax).map((loss) => lossInWords(input, loss));
  return { playedAt, losses: lines, leftOut: losses.length + unplayed.length - lines.length };
}

function lossInWords(input: EachDocument, loss: Loss): LossInWords {
  const { failed, unplaced } = loss;
  const part = partOf(input, loss);
  if (failed !== null) return { part, text: `could not be played: ${failed}`, isHarmful: true };
  const down = worstFirst(loss.workloads).filter((one) => isOfNodes(one) === 0 && one.downMax > 0);
  const more = down.length - namedMax;
  const texts = [
    ...down
      .slice(0, namedMax)
      .map((one) => `${shortName(one)} ${downText(one, input.untilSeconds - lossAt)}`),
    ...(more > 0 ? [`${count(more, 'workload')} more`] : []),
    ...(unplaced.atEnd > 0 ? [`${count(unplaced.atEnd, 'pod')} without room at the end`] : []),
  ];
  return { part, text: texts.join('; ') || 'no workload goes down', isHarmful: texts.length > 0 };
}

/** The number of workloads that are named in a line. */
const namedMax = 2;

/** The time of each loss after the beginning, in seconds. */
const lossAt = 60;

/** `2 of 8 down for 6m`, `2 of 8 down, not back after 29m`, `2 of 8 down, 1 not back after 29m` */
function downText(one: LossWorkload, seen: number): string {
  const { downMax, downWorstWanted, downSeconds, downAtEnd } = one;
  const many = `${downMax} of ${downWorstWanted} down`;
  if (downAtEnd === 0) return `${many} for ${roughly(downSeconds)}`;
  const which = downAtEnd < downMax ? `${downAtEnd} ` : '';
  return `${many}, ${which}not back after ${roughly(seen)}`;
}

/** From a minute on without seconds: a forecast is no more exact than that. */
function roughly(seconds: number): string {
  return duration(seconds < 60 ? Math.ceil(seconds) : Math.round(seconds / 60) * 60);
}

function jobKey({ namespace, name }: JobSummary): string {
  return `${namespace}/${name}`;
}

/** The sentence that counts the effects of all losses; '' if there are none. */
export function besidesLosses({ losses }: EachDocument): string {
  const number = (holds: (loss: Loss) => boolean): number => losses.filter(holds).length;
  const counts: readonly (readonly [number, one: string, more: string])[] = [
    [number((loss) => crossedIn(loss) > 0), 'crosses a limit', 'cross a limit'],
    [number((loss) => brokenIn(loss) > 0), 'breaks a budget', 'break a budget'],
    [
      number(({ unplaced }) => unplaced.atEnd > 0),
      'leaves pods without room to the end',
      'leave pods without room to the end',
    ],
    [
      number(({ blocked }) => blocked > 0),
      'leaves pods that budgets block',
      'leave pods that budgets block',
    ],
    [number(isHarmless), 'affects nothing', 'affect nothing'],
    [number(({ failed }) => failed !== null), 'could not be played', 'could not be played'],
  ];
  const texts = counts.flatMap(([amount, ...said]) => (amount > 0 ? [count(amount, ...said)] : []));
  return texts.length === 0
    ? ''
    : `Of ${count(losses.length, 'loss', 'losses')} ${texts.join(', ')}.`;
}

function isHarmless({ failed, workloads, budgets, jobs = [], unplaced, blocked }: Loss): boolean {
  const harmed = workloads.length + budgets.length + jobs.length;
  return failed === null && harmed + unplaced.pods + blocked === 0;
}

/** The number of budgets that had fewer healthy pods than they ask for. */
export function brokenIn({ budgets }: Loss): number {
  return budgets.filter(({ belowMax }) => belowMax > 0).length;
}

/** `0.4`, `12`, `1.2k`: with as many digits as tell something, and as little room as may be. */
export function minutesText(minutes: number): string {
  if (minutes === 0) return '0';
  if (minutes < 0.05) return '<0.1';
  if (minutes < 9.95) return minutes.toFixed(1);
  if (minutes < 999.5) return String(Math.round(minutes));
  const thousands = minutes / 1000;
  return thousands < 9.95 ? `${thousands.toFixed(1)}k` : `${Math.round(thousands)}k`;
}

/** A term and a text, as the panel has them. */
export type Fact = readonly [term: string, text: string];

/** The facts about one workload. */
export function workloadFacts(one: LossWorkload): readonly Fact[] {
  const { outageSeconds, downAtEnd, unplacedAtEnd, unknown, evictions } = one;
  const unsure = (unknown ?? []).map((what) => `${what}, which is not simulated`).join('; ');
  return factsOf([
    ['down', one.downMax === 0 ? 'never' : `at most ${one.downMax} of ${one.downWorstWanted} pods`],
    ['for', one.downMax === 0 ? '' : duration(one.downSeconds)],
    ['all down', outageSeconds === 0 ? '' : `for ${duration(outageSeconds)}`],
    ['lost', one.podMinutesLost === 0 ? '' : `${one.podMinutesLost.toFixed(1)} pod-minutes`],
    ['at the end', downAtEnd === 0 ? '' : `${downAtEnd} down`],
    ['no room', unplacedAtEnd === 0 ? '' : `${count(unplacedAtEnd, 'pod')} at the end`],
    ['evictions', evictions === 0 ? '' : String(evictions)],
    ['not known', unsure],
  ]);
}

/** The number of names that are listed. */
const namesMax = 12;

/** The facts about a loss as a whole. */
export function lossFacts(input: EachDocument, loss: Loss): readonly Fact[] {
  const { nodes, pods, evictions, refusals, unplaced, blocked, failed } = loss;
  const many = nodes.length > namesMax ? ` and ${nodes.length - namesMax} more` : '';
  const room = `${unplaced.atOnceMax} at once, ${unplaced.atEnd} at the end`;
  const isAlone = input.each === 'node' && nodes.length === 1;
  return factsOf([
    ['failed', failed ?? ''],
    ['nodes', isAlone ? '' : `${nodes.length}: ${nodes.slice(0, namesMax).join(', ')}${many}`],
    ['pods', `${pods} on ${nodes.length === 1 ? 'it' : 'them'}`],
    ['lost', loss.podMinutesLost === 0 ? '' : `${loss.podMinutesLost.toFixed(1)} pod-minutes`],
    ['evictions', evictions === 0 ? '' : String(evictions)],
    ['refused', refusals === 0 ? '' : `${count(refusals, 'eviction')}, by budgets`],
    ['no room', unplaced.pods === 0 ? '' : `${count(unplaced.pods, 'pod')}: ${room}`],
    ['blocked', blocked === 0 ? '' : `${count(blocked, 'pod')} at the end, blocked by budgets`],
  ]);
}

/** The budgets that are broken or refuse, and the way. */
export function budgetFacts({ budgets }: Loss): readonly Fact[] {
  return budgets.map(({ namespace, name, belowMax, belowSeconds, refusals }): Fact => {
    const texts = [
      ...(belowMax > 0 ? [`at most ${belowMax} too few, for ${duration(belowSeconds)}`] : []),
      ...(refusals > 0 ? [`refuses ${count(refusals, 'eviction')}`] : []),
    ];
    return [`${namespace}/${name}`, texts.join('; ')];
  });
}

/** The results of the limits of --fail-if. */
export function limitFacts({ limits = [] }: Loss): readonly Fact[] {
  return limits.map(({ limit, exceeded, unknown }): Fact => {
    return [limit, unknown !== undefined ? '? not known' : exceeded ? '✕ crossed' : '✓ kept'];
  });
}

/** The number of limits that are crossed. */
export function crossedIn({ limits = [] }: Loss): number {
  return limits.filter(({ exceeded }) => exceeded).length;
}

/** As typed in a shell, what plays this loss alone, in detail. */
export function aloneCommand({ command }: EachDocument, { event }: Loss): string {
  return `${command} --event '${event.replaceAll("'", `'\\''`)}'`;
}

/** The facts with a text. */
function factsOf(facts: readonly Fact[]): readonly Fact[] {
  return facts.filter(([, text]) => text !== '');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
