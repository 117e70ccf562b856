import { describeCount, resumeCommand } from '@taintmgr/core/policy';
import { formatDeadline, formatDuration, formatTime } from '@taintmgr/core/time';
import type { CountingLimit, TrippedLimit } from '../survey/limits.ts';
import type { ForecastSurvey } from '../survey/survey.ts';
import { count } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type { LimitsDocument } from './answers.ts';
import { scopeIn, scopesOf } from './limit-forecast.ts';
import type { PodReport } from './report.ts';
import { ago, soon } from './words.ts';

/** In clusters of many namespaces as many limits may count. */
const notesMax = 5;

/** The limits of the controller that hold pods back, or may. */
interface Limits {
  readonly tripped: readonly TrippedLimit[];
  readonly counting: readonly CountingLimit[];
}

const noLimits: Limits = { tripped: [], counting: [] };

/** Limits that count pods which have to leave, by their names. */
function limitsOn({ limits, nodes }: ForecastSurvey, pods: readonly PodReport[]): Limits {
  if (!limits || limits.tripped.length + limits.counting.length === 0) return noLimits;
  const byName = new Map(nodes.map(({ node }) => [node.name, node] as const));
  const scopes = new Set(
    pods
      .filter(({ explanation }) => explanation.decision.kind === 'evict')
      .flatMap(({ facts: { pod } }) => scopesOf(pod, byName.get(pod.nodeName))),
  );
  const counts = ({ id }: { readonly id: string }): boolean => scopes.has(scopeIn(id));
  return {
    tripped: limits.tripped.filter(counts),
    counting: limits.counting.filter(counts),
  };
}

/** The notes on limits: that they hold pods back, and until when. */
export function limitNotes(survey: ForecastSurvey, pods: readonly PodReport[]): readonly string[] {
  const { tripped, counting } = limitsOn(survey, pods);
  const notes = [
    ...tripped.map(({ id, since, count: counted }) => {
      const what = counted ? `: ${describeCount(counted)}` : '';
      const wait = `pods under it wait until you run: ${resumeCommand(id)}`;
      return `limit ${id} of taintmgr-controller tripped ${ago(survey.at, since)}${what}; ${wait}`;
    }),
    ...counting.map(({ id, evicted, of, windowMs, roomAt }) => {
      const share = `${evicted}${of === null ? '' : ` of ${of}`} pods evicted within ${formatDuration(windowMs)}`;
      const room = `where that is all it allows, there is room again ${soon(roomAt - survey.at)}`;
      return `limit ${id} of taintmgr-controller counts ${share}; ${room}`;
    }),
  ];
  const rest = notes.length - notesMax;
  const more = `${count(rest, 'more limit')} of taintmgr-controller: kubectl taintmgr status`;
  return [...notes.slice(0, notesMax), ...(rest > 0 ? [more] : [])].map(printable);
}

/** The limits that count pods of the answer, as JSON; {} where none does. */
export function limitsDocument(survey: ForecastSurvey, pods: readonly PodReport[]): LimitsDocument {
  const { tripped, counting } = limitsOn(survey, pods);
  if (tripped.length + counting.length === 0) return {};
  return {
    limits: [
      ...tripped.map((limit) => ({ ...trippedDocument(limit), tripped: true })),
      ...counting.map(({ id, evicted, of, windowMs, roomAt }) => {
        const share = { evicted, ...(of !== null && { of }) };
        const window = { windowSeconds: windowMs / 1000, roomAt: formatDeadline(roomAt) };
        return { id, ...share, ...window, tripped: false };
      }),
    ],
  };
}

/** A limit that has tripped, with its count then, as JSON. */
export function trippedDocument({ id, since, count: counted }: TrippedLimit): {
  readonly id: string;
  readonly evicted: number | null;
  readonly of: number | null;
  readonly since: string;
} {
  const { evicted = null, of = null } = counted ?? {};
  return { id, evicted, of, since: formatTime(since) };
}
