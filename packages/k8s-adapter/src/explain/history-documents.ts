// The answer of history as JSON. Times are RFC 3339 in UTC; a missing field is unknown, or there is
// none.
import { formatTime, type Instant } from '@taintmgr/core/time';
import type { Gap } from '../history/departure.ts';
import type { ClaimDocument, DepartureDocument, DepartureList } from './departure-answers.ts';
import { apiVersion } from './documents.ts';
import type { Claim, Story } from './history-model.ts';
import { headline } from './history-words.ts';

export function departureList(
  at: Instant,
  stories: readonly Story[],
  gaps: readonly Gap[],
): DepartureList {
  return {
    ...{ apiVersion, kind: 'DepartureList', observedAt: formatTime(at) },
    items: stories.map(departureDocument),
    gaps: gaps.map(({ from, to, ...gap }) => {
      return { ...(from !== undefined && { from: formatTime(from) }), to: formatTime(to), ...gap };
    }),
  };
}

/** Returns one story; times that are null are left out. */
export function departureDocument(story: Story): DepartureDocument {
  const { namespace, pod, uid, node, owner, state, askedAt, goneAt, by, others, hints } = story;
  const { taint, policy, leaving, moments, successor, unknown } = story;
  return {
    ...{ namespace, pod, ...texts({ uid, node }), ...(owner && { owner }), state },
    ...times({ askedAt: askedAt?.at ?? null, goneAt }),
    ...(by && { by: claimDocument(by) }),
    ...(others.length > 0 && { contradictedBy: others.map(claimDocument) }),
    ...(hints.length > 0 && { hints }),
    ...(taint && { taint: taintDocument(taint) }),
    ...(policy !== null && { policy }),
    ...(leaving && { terminating: leavingDocument(leaving) }),
    times: moments.map(({ at, until = null, text, source }) => {
      return { at: formatTime(at), ...times({ until }), what: text, source: source.name };
    }),
    ...(successor && { successor: successorDocument(successor) }),
    ...(unknown.length > 0 && { notKnown: unknown }),
    summary: headline(story, null),
  };
}

function claimDocument({ kind, who, detail, at, sources }: Claim): ClaimDocument {
  const names = sources.map(({ name }) => name);
  return { kind, who, ...texts({ detail }), ...times({ at }), sources: names };
}

function taintDocument(
  taint: NonNullable<Story['taint']>,
): NonNullable<DepartureDocument['taint']> {
  const { name, isSaid: said, since, setBy, source } = taint;
  return { name, said, ...times({ since }), ...texts({ setBy: setBy ?? '' }), source: source.name };
}

function leavingDocument({
  graceEnds,
  graceMs,
  finalizers,
}: NonNullable<Story['leaving']>): NonNullable<DepartureDocument['terminating']> {
  return {
    graceEnds: formatTime(graceEnds),
    ...(graceMs !== null && { graceSeconds: graceMs / 1000 }),
    ...(finalizers.length > 0 && { finalizers }),
  };
}

function successorDocument(
  successor: NonNullable<Story['successor']>,
): NonNullable<DepartureDocument['successor']> {
  const { pod, uid, node, createdAt, boundAt, readyAt, isReady, isOneOfSeveral, source } =
    successor;
  return {
    ...{ pod, ...texts({ uid, node }), ...times({ createdAt, boundAt, readyAt }) },
    ...(isReady !== null && { ready: isReady }),
    ...{ certain: !isOneOfSeveral, source: source.name },
  };
}

function times<K extends string>(
  fields: Readonly<Record<K, Instant | null>>,
): { [P in K]?: string } {
  const known = Object.entries<Instant | null>(fields).filter(([, at]) => at !== null);
  return Object.fromEntries(known.map(([name, at]) => [name, formatTime(at ?? 0)])) as {
    [P in K]?: string;
  };
}

function texts<K extends string>(fields: Readonly<Record<K, string>>): { [P in K]?: string } {
  const known = Object.entries<string>(fields).filter(([, text]) => text !== '');
  return Object.fromEntries(known) as { [P in K]?: string };
}
