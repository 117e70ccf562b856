// A story in words, for a person on call: the answer, the times, the replacement, and the unknown
// parts.
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import { listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type { Claim, ClaimKind, Moment, Source, Story } from './history-model.ts';
import { ago } from './words.ts';

/** Tells the whole story of a departure, line by line. */
export function storyText(story: Story, now: Instant): string {
  const { moments, unknown } = story;
  const day = dayOf(now);
  const times = timesText(moments, day);
  return [
    headline(story, now),
    ...story.others.map((claim) => `But ${claimText(claim, story.by !== null, now)}.`),
    ...(times.length > 0 ? ['', 'Times (UTC):', ...times] : []),
    ...(story.state === 'marked' ? [] : ['', successorText(story)]),
    ...(unknown.length > 0 ? ['', 'Not known:', ...unknown.map((text) => `  ${text}`)] : []),
  ]
    .map((line) => printable(ofToday(line, day)))
    .join('\n');
}

/** Times of `today` without their day, also those that a hint names. */
function ofToday(text: string, today: string): string {
  return today === '' ? text : text.replaceAll(`${today}T`, '');
}

/** The number of lines of times; a client that may create Events can write any number. */
const timesMax = 200;

/**
 * Returns one line each, cut in the middle with counts: statements of leaders and the API server
 * stay.
 */
function timesText(moments: readonly Moment[], day: string): readonly string[] {
  const lines: string[] = [];
  let left = 0;
  const tellOfLeft = (): void => {
    if (left > 0) lines.push(`  and ${left} more`);
    left = 0;
  };
  for (const [index, { at, until, text, source }] of moments.entries()) {
    const isAtEnd = index < timesMax / 2 || index >= moments.length - timesMax / 2;
    if (!isAtEnd && source.kind !== 'record' && source.kind !== 'deletion') {
      left += 1;
      continue;
    }
    tellOfLeft();
    const to = until === undefined ? '' : `, last at ${clockText(until, day)}`;
    lines.push(`  ${clockText(at, day)}  ${text}${to} [${source.name}]`);
  }
  tellOfLeft();
  return lines;
}

/** The answer in one sentence, or in two; `now` null: as it stands in a document, by the clock alone. */
export function headline(story: Story, now: Instant | null): string {
  const { by, askedAt, state } = story;
  const today = now === null ? '' : dayOf(now);
  const since = askedAt && now !== null ? ` (${ago(now, askedAt.at)})` : '';
  const when = askedAt ? ` at ${clockText(askedAt.at, today)}${since}` : '';
  const name = `${story.namespace}/${story.pod}`;
  const verb = verbs[by?.kind ?? 'unknown'];
  const where =
    story.node === '' ? '' : ` ${by?.kind === 'preemption' ? 'on' : 'from'} ${story.node}`;
  const act = `${verb}${where}${when}${byText(story)}${taintText(story, today)}${forText(story)}`;
  const says = by === null ? '' : saysText(by);
  switch (state) {
    case 'gone':
      return `${name} was ${act}${says}.${goneText(story, today)}`;
    case 'unseen':
      return `${name} was ${act}${says}.`;
    case 'failed':
      return `${name} was ${act}${says}. It has ended, and its object is still there.`;
    case 'marked':
      return `${name} was marked for deletion${when}${byText(story)}${taintText(story, today)}${says}, and is not deleted.`;
    case 'leaving':
      return ofToday(
        `${name} is terminating: it was ${act}${says}. ${leavingText(story, now)}`,
        today,
      );
  }
}

/** `evicted`, as people say it of each way to go. */
const verbs: Readonly<Record<ClaimKind, string>> = {
  ...{ taintmgr: 'evicted', drain: 'evicted', taintManager: 'evicted', deviceTaints: 'evicted' },
  ...{ evictionApi: 'evicted', preemption: 'preempted', kubelet: 'evicted', podGc: 'deleted' },
  ...{ unknown: 'deleted', workload: 'deleted', nodeLost: 'deleted' },
};

function byText(story: Story): string {
  const { by, hints, state } = story;
  const hint = hints.length === 0 ? '' : ` (${hints.join('; ')})`;
  if (by === null)
    return state === 'marked' ? '' : `${eventsText(story)}; no source says by whom${hint}`;
  return ` by ${by.who}${hint}`;
}

function taintText({ taint, policy }: Story, today: string): string {
  if (taint === null) return '';
  const { name, isSaid, setBy, since } = taint;
  const likely = isSaid ? '' : 'most likely ';
  const set =
    setBy !== null && since !== null ? `, which ${setBy} put on at ${clockText(since, today)}` : '';
  const rule = policy === null ? '' : `, by policy ${policy}`;
  return `, ${likely}for taint ${name}${rule}${set}`;
}

/** `kube-controller-manager, as an Event ... says`; '': no source says. */
export function evictedByText({ by }: Story): string {
  return by === null ? '' : `${by.who}${saysText(by)}`;
}

/** Where only Events name the pod: a client that may create Events can write them of any pod. */
function eventsText({ state, moments }: Story): string {
  const isOfEvents = moments.every(
    ({ source }) => source.kind === 'event' || source.kind === 'node',
  );
  return state === 'gone' && isOfEvents ? ', as Events say' : '';
}

/**
 * Says in a few words why a pod left: `kernel=old:NoExecute`, `for pod web-9`; '': no source says.
 */
export function reasonText(story: Story): string {
  const { taint, by, hints } = story;
  if (taint === null) return by?.detail || hints.join('; ');
  return `${taint.isSaid ? '' : 'most likely '}${taint.name}`;
}

/** The rest of the claim beside who: for which pod, what the node was short of. */
function forText({ by, taint }: Story): string {
  if (by === null || by.detail === '') return '';
  if (taint !== null && (by.kind === 'taintmgr' || by.kind === 'drain')) return '';
  return by.kind === 'preemption' ? ` ${by.detail}` : `: ${by.detail.replace(/\.$/, '')}`;
}

/** The number that is named one by one. */
const sourcesMax = 6;

/** Named where others than those concerned could have written it. */
function saysText({ sources }: Claim): string {
  if (sources.some(({ kind }) => kind === 'record')) return '';
  const named = sources.filter(({ kind }) => kind !== 'deletion').map(sourceText);
  if (named.length === 0) return '';
  const whole =
    named.length === 1 ? named[0] : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
  const list = named.length > sourcesMax ? listText(named) : whole;
  return `, as ${list} ${named.length === 1 ? 'says' : 'say'}`;
}

function sourceText({ kind, name }: Source): string {
  if (kind === 'event') return name.replace(/^Event/, 'an Event');
  return kind === 'condition' ? `its ${name}` : `the ${name}`;
}

/** `isOfAct`: it is about the same act as the believed claim, not about another time. */
function claimText(claim: Claim, isOfAct: boolean, now: Instant): string {
  const { kind, who, at, sources, detail } = claim;
  const when = at === null ? '' : ` at ${clockText(at, dayOf(now))}`;
  const named = sources.map(sourceText);
  const list = named.length > sourcesMax ? listText(named) : named.join(' and ');
  const more = detail === '' ? '' : ` (${detail})`;
  const says = `${list} ${sources.length === 1 ? 'says' : 'say'} that`;
  if (!isOfAct) return `${says} ${who} marked it${when}, which is another time${more}`;
  return `${says} it was ${verbs[kind]}${when} by ${who}${more}`;
}

function goneText({ goneAt, askedAt }: Story, today: string): string {
  if (goneAt === null) return '';
  const after = askedAt ? `, ${afterText(askedAt.at, goneAt)}` : '';
  return ` It was gone at ${clockText(goneAt, today)}${after}.`;
}

function leavingText({ leaving }: Story, now: Instant | null): string {
  if (leaving === null) return '';
  const { graceEnds, finalizers } = leaving;
  const held =
    finalizers.length === 0 ? '' : `; the finalizers ${finalizers.join(', ')} hold its object`;
  return `${graceText(graceEnds, now)}${held}.`;
}

function graceText(graceEnds: Instant, now: Instant | null): string {
  if (now === null) return `Its grace period is over at ${formatTime(graceEnds)}`;
  if (graceEnds <= now) return `Its grace period was over ${ago(now, graceEnds)}`;
  return `It has ${formatDuration(graceEnds - now)} left to end`;
}

function successorText(story: Story): string {
  const { successor, owner } = story;
  if (successor !== null) return `Instead: ${insteadText(story)} [${successor.source.name}].`;
  if (owner === null)
    return 'Instead: no source names an owner of the pod, or a pod that came instead.';
  return `Instead: no source names a later pod of ${owner.kind} ${owner.name}.`;
}

function afterText(from: Instant, to: Instant): string {
  return to - from < 1000 ? 'within a second' : `${formatDuration(to - from)} later`;
}

/** `most likely web-9 on b-1, ready 12s later`; null: no source names one. */
export function insteadText({ successor, askedAt }: Story): string | null {
  if (successor === null) return null;
  const { pod, node, readyAt, isReady, createdAt } = successor;
  const since = askedAt?.at ?? null;
  const after = (at: Instant): string => {
    if (since === null) return `at ${formatTime(at)}`;
    return afterText(since, at);
  };
  const where = node === '' ? ', on no node yet' : ` on ${node}`;
  const state =
    readyAt !== null
      ? `, ready ${after(readyAt)}`
      : isReady === false
        ? ', not ready'
        : createdAt === null
          ? ''
          : `, created ${after(createdAt)}; no source says if it is ready`;
  const likely = successor.isOneOfSeveral ? 'most likely ' : '';
  return `${likely}${pod}${where}${state}`;
}

/** `2026-11-30`, as times of other days begin. */
function dayOf(at: Instant): string {
  return formatTime(at).slice(0, 10);
}

/** `02:03:11Z`, with its day where that is another than `today`. */
function clockText(at: Instant, today: string): string {
  const text = formatTime(at);
  return today !== '' && text.startsWith(today) ? text.slice(11) : text;
}
