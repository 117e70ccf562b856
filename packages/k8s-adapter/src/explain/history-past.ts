// Who left lately as a live page lists them: each story in the cells of a table, and in all its lines.
import type { Instant } from '@taintmgr/core/time';
import type { Gap } from '../history/departure.ts';
import { groupBy, listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type { Source, Story } from './history-model.ts';
import { gapReason } from './history-story.ts';
import { evictedByText, insteadText, reasonText, storyText } from './history-words.ts';

/** A pod that left. '' in `story`: no source says. */
interface PastPod {
  /** '': no source says which one of its name. */
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  /** `ReplicaSet shop/web`; null: no source names an owner. */
  readonly workload: string | null;
  readonly node: string;
  /** When it was gone, or else asked to leave. */
  readonly at: Instant;
  readonly story: {
    readonly evictedBy: string;
    readonly reason: string;
    readonly replacedBy: string;
    readonly sources: readonly string[];
    /** As `history pod` prints it. */
    readonly lines: readonly string[];
  };
}

/** Who left, the earliest first, and the times of which no record is kept; `from` null: since ever. */
export interface Past {
  /** The pods that left. */
  readonly pods: readonly PastPod[];
  /** The times of which no record is kept, with the reason. */
  readonly gaps: readonly {
    readonly from: Instant | null;
    readonly to: Instant;
    readonly text: string;
  }[];
  /** True: earlier pods are left out. */
  readonly isCut: boolean;
}

/**
 * The last of those who left, `most` in all, of each namespace its share. Pods that are still on
 * their way out, or for which no source names a time, are not among them.
 */
export function pastOf(
  stories: readonly Story[],
  gaps: readonly Gap[],
  now: Instant,
  most: number,
): Past {
  const left = stories.flatMap((story) => {
    const at = leftAt(story);
    return at === null ? [] : [{ story, at }];
  });
  left.sort((one, other) => one.at - other.at);
  const ofEach = [...groupBy(left, ({ story }) => story.namespace).values()];
  const share = shareOf(ofEach, most);
  const last = ofEach.flatMap((all) => all.slice(-share));
  last.sort((one, other) => one.at - other.at).splice(0, last.length - most);
  const since = last[0]?.at ?? Number.POSITIVE_INFINITY;
  return {
    pods: last.map(({ story, at }) => pastPod(story, at, now)),
    gaps: [
      ...gaps.map((gap) => ({ from: gap.from ?? null, to: gap.to, text: gapReason(gap) })),
      ...unlisted(
        ofEach.flatMap((all) => all.slice(0, -share)),
        since,
      ),
    ],
    isCut: last.length < left.length,
  };
}

interface Left {
  readonly story: Story;
  readonly at: Instant;
}

/**
 * The number of each namespace that has room: a client that may create Events in one can make up
 * any number there.
 */
function shareOf(ofEach: readonly (readonly Left[])[], most: number): number {
  let [room, open] = [most, ofEach.length];
  for (const { length } of ofEach.toSorted((one, other) => one.length - other.length)) {
    if (length * open > room) return Math.max(1, Math.floor(room / open));
    room -= length;
    open -= 1;
  }
  return most;
}

/** Pods without room in the share of their namespace, though earlier pods of others have room. */
function unlisted(all: readonly Left[], since: Instant): Past['gaps'] {
  const later = all.filter(({ at }) => at >= since).sort((one, other) => one.at - other.at);
  const [first, last] = [later[0], later.at(-1)];
  if (!first || !last) return [];
  const names = [...new Set(later.map(({ story }) => story.namespace))];
  const text = `${later.length} more left then, in ${listText(names)}: kubectl taintmgr history`;
  return [{ from: first.at, to: last.at, text: printable(text) }];
}

function leftAt({ state, goneAt, askedAt }: Story): Instant | null {
  return state === 'marked' || state === 'leaving' ? null : (goneAt ?? askedAt?.at ?? null);
}

function pastPod(story: Story, at: Instant, now: Instant): PastPod {
  const { namespace, pod, uid, node, owner } = story;
  return {
    ...{ uid, namespace, pod, node, at },
    workload: owner ? `${owner.kind} ${namespace}/${owner.name}` : null,
    story: {
      evictedBy: printable(evictedByText(story)),
      reason: printable(reasonText(story)),
      replacedBy: printable(insteadText(story) ?? ''),
      sources: sourcesOf(story).map(printable),
      lines: storyText(story, now).split('\n'),
    },
  };
}

/** The number that is named. */
const sourcesMax = 20;

/** Each once, in the order of their statements. */
function sourcesOf({ by, taint, askedAt, moments, successor }: Story): readonly string[] {
  const all: readonly (Source | undefined)[] = [
    ...(by?.sources ?? []),
    ...[taint?.source, askedAt?.source],
    ...moments.map(({ source }) => source),
    successor?.source,
  ];
  const names = [...new Set(all.flatMap((source) => source?.name ?? []))];
  const more = names.length - sourcesMax;
  return more <= 0 ? names : [...names.slice(0, sourcesMax), `and ${more} more`];
}
