// /evictions: the pods that have left their nodes, as the leader remembers them.
import { setImmediate as pause } from 'node:timers/promises';
import { type Instant, parseDuration, parseTime } from '@taintmgr/core/time';
import { gzip, HistorySearch } from '@taintmgr/k8s-adapter';
import type { ProcessStats } from '../stats/process-stats.ts';
import { errorAnswer, type Handler, jsonAnswer } from './answer.ts';

/** The latest of those that are found. */
const departuresMax = 500;
const names = ['namespace', 'pod', 'node'] as const;

/** Answers in JSON; the memory is read block by block, so that decisions run in between. */
export function evictionsHandler(stats: ProcessStats): Handler {
  return async ({ query }) => {
    const { running } = stats;
    const kept = running?.kept() ?? null;
    if (!running || !kept) return errorAnswer(absence(stats), 503);
    const now = running.wall();
    const since = sinceOf(query.get('since'), now);
    if (since === null) {
      const want = 'a duration such as 2h, or a time such as 2026-05-04T12:00:00Z';
      return errorAnswer(`since: got ${JSON.stringify(query.get('since'))}, want ${want}`, 400);
    }
    const asked = names.flatMap((name) => {
      const value = query.get(name);
      return value ? [[name, value] as const] : [];
    });
    const wanted = { ...Object.fromEntries(asked), ...(since !== undefined && { since }) };
    const search = new HistorySearch(wanted, departuresMax);
    for (const block of kept.blocks) {
      search.readBlock(block, gzip);
      await pause();
    }
    for (const line of kept.lines) search.readLine(line);
    return jsonAnswer({ now, ...search.found });
  };
}

function absence({ running, leadership }: ProcessStats): string {
  if (!running) return 'not started yet';
  const leader = running.leader();
  if (leadership.elected)
    return 'a dry run keeps no history, and a new leader has to read it first';
  return `only the leader has the history: ${leader || 'there is none'}`;
}

/** Undefined: nothing is said; null: it is neither. */
function sinceOf(text: string | null, now: Instant): Instant | undefined | null {
  if (!text) return undefined;
  const ago = parseDuration(text);
  return ago === null ? parseTime(text) : now - ago;
}
