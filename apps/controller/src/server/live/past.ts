// Recent departures, for the live page: those that the leader has kept.
import { setImmediate as pause } from 'node:timers/promises';
import { gzip, HistorySearch } from '@taintmgr/k8s-adapter';
import { mergeStories, pastOf } from '@taintmgr/k8s-adapter/history';
import type { LivePast } from '@taintmgr/page';
import type { RunningController } from '../../stats/process-stats.ts';

/**
 * The number of departures that are shown, the newest; they are in the last blocks, of some hundred pods
 * each.
 */
const podsMax = 300;
const blocksMax = 16;

/** Null: this process keeps none, does not lead, or has not read them yet. Decisions run in between. */
export async function pastIn(running: RunningController): Promise<LivePast | null> {
  const kept = running.kept();
  if (!kept) return null;
  const search = new HistorySearch({}, podsMax);
  const blocks = kept.blocks.slice(-blocksMax);
  for (const block of blocks) {
    search.readBlock(block, gzip);
    await pause();
  }
  for (const line of kept.lines) search.readLine(line);
  const { departures, gaps, leftOut } = search.found;
  const at = running.wall();
  const stories = mergeStories({
    ...{ at, gaps, departures: departures.filter((one) => !isThere(running, one)) },
    // Where only the pods of some nodes are known, one that is not may be on another.
    pods: running.podScope() === 'all' ? [] : null,
    ...{ events: null, requests: [], nodes: new Map() },
  });
  const past = pastOf(stories, gaps, at, podsMax);
  const isCut = leftOut > 0 || blocks.length < kept.blocks.length;
  return { ...past, isCut: past.isCut || isCut };
}

type Departure = HistorySearch['found']['departures'][number];

/** A pod that has ended on its node has left it, though its object is there. */
function isThere(running: RunningController, { namespace, pod, uid }: Departure): boolean {
  const found = running.explain(running.now(), { kind: 'pod', namespace, name: pod, uid });
  if (found?.kind !== 'pod') return false;
  return found.pod.phase !== 'Failed' && found.pod.phase !== 'Succeeded';
}
