// Plays both sides of the demo and prints news in short lines, each kind once in a chapter.

import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { DeadlineTrack, Summary } from '@taintmgr/page';
import { nameIn, type Side, type SideView } from './side.ts';
import { chapters, hour, type Scene } from './story.ts';

/** The longest stretch of the hour that is played before the narrators look for news. */
const stepMs: Millis = 1_000;
const minuteMs = 60_000;

/** A line about one side, or about both where `who` is missing. */
export interface Said {
  readonly at: Millis;
  readonly text: string;
  readonly who?: string;
}

/** A side as the board shows it. */
export interface Shown {
  readonly title: string;
  readonly view: SideView;
  /** The lines about this side, the latest last. */
  readonly said: readonly Said[];
}

/** The hour on both sides, and the words about it. */
export class Play {
  scene = 'All is well';
  readonly #sides: readonly { readonly side: Side; readonly narrator: Narrator }[];
  readonly #summaries: Summary[][];
  readonly #said: Said[] = [];
  #after: Millis = 0;
  #coming: readonly Scene[] = chapters.flatMap(({ scenes }) => scenes);

  constructor(sides: readonly Side[]) {
    this.#sides = sides.map((side) => ({ side, narrator: new Narrator(side) }));
    this.#summaries = sides.map((side) => [side.summary()]);
  }

  /** Everything that was said so far. */
  get said(): readonly Said[] {
    return this.#said;
  }

  shown(): readonly Shown[] {
    return this.#sides.map(({ side }) => ({
      title: side.title,
      view: side.view(),
      said: this.#said.filter(({ who }) => who === side.title),
    }));
  }

  runUntil(until: Millis): void {
    while (this.#after < until) {
      this.#after = Math.min(until, this.#after + stepMs, this.#nextAt);
      for (const { side } of this.#sides) side.runUntil(this.#after);
      this.#narrate();
    }
  }

  /** The sums of each side before the first chapter and at the end of each. */
  end(): readonly (readonly Summary[])[] {
    this.#endChapter();
    return this.#summaries;
  }

  /** The time at which the next scene is announced: right before it begins. */
  get #nextAt(): Millis {
    const [next] = this.#coming;
    return next ? next.minute * minuteMs - 1 : hour;
  }

  #narrate(): void {
    for (const { side, narrator } of this.#sides) {
      for (const text of narrator.news()) this.#say(text, side.title);
    }
    const [next, ...others] = this.#coming;
    if (!next || this.#after < this.#nextAt) return;
    const isFirst = next === chapters[0]?.scenes[0];
    if (!isFirst && chapters.some(({ scenes }) => scenes[0] === next)) this.#endChapter();
    this.#coming = others;
    this.scene = next.text;
    this.#say(next.text);
  }

  #endChapter(): void {
    for (const [index, { side, narrator }] of this.#sides.entries()) {
      this.#say(narrator.endChapter(), side.title);
      this.#summaries[index]?.push(side.summary());
    }
  }

  #say(text: string, who?: string): void {
    const at = Math.round(this.#after / 1000) * 1000;
    this.#said.push(who === undefined ? { at, text } : { at, text, who });
  }
}

/** Returns each item of a growing list once. */
class Unread<Item> {
  #count = 0;

  of(list: readonly Item[]): readonly Item[] {
    const fresh = list.slice(this.#count);
    this.#count = list.length;
    return fresh;
  }
}

/** Says what happens on a side. */
class Narrator {
  readonly #side: Side;
  readonly #unread = {
    evictions: new Unread<Side['recording']['evictions'][number]>(),
    deadlines: new Unread<DeadlineTrack>(),
    holds: new Unread<Side['recording']['holds'][number]>(),
    refusals: new Unread<Side['recording']['refusals'][number]>(),
  };
  readonly #said = new Set<string>();
  /** The last deadline of each pod. */
  readonly #dueAt = new Map<string, number>();
  #before: Summary;

  constructor(side: Side) {
    this.#side = side;
    this.#before = side.summary();
  }

  news(): readonly string[] {
    const { evictions, deadlines, holds, refusals } = this.#side.recording;
    return [
      ...this.#deadlines(this.#unread.deadlines.of(deadlines)),
      ...this.#unread.holds.of(holds).flatMap(({ name, text, tripped }) => {
        return this.#once(`hold ${name}`, tripped ? 'limit trips: pods are held' : `held: ${text}`);
      }),
      ...this.#unread.evictions.of(evictions).flatMap(({ workload, because: [why = ''] }) => {
        const name = nameIn(workload);
        return this.#once(`eviction ${name} ${why}`, `evicts ${name}: ${short(why)}`);
      }),
      ...this.#unread.refusals.of(refusals).flatMap(({ budget }) => {
        return this.#once(`refusal ${budget}`, `waits for budget ${budget}`);
      }),
      ...this.#outages(),
    ];
  }

  /** The sum of a chapter. The next chapter repeats no line of it. */
  endChapter(): string {
    const [now, before] = [this.#side.summary(), this.#before];
    this.#said.clear();
    this.#before = now;
    const evicted = now.evictions - before.evictions;
    const refused = now.refusals - before.refusals;
    const lost = Math.round(podMinutesLost(now) - podMinutesLost(before));
    return `sum: ${evicted} evicted, ${refused} refused, ${lost} pod-minutes lost`;
  }

  #deadlines(fresh: readonly DeadlineTrack[]): readonly string[] {
    const later: number[] = [];
    const same: string[] = [];
    const texts: string[] = [];
    for (const { namespace, pod, workload, setAt, dueAt, because } of fresh) {
      const key = `${namespace}/${pod}`;
      const known = this.#dueAt.get(key);
      this.#dueAt.set(key, dueAt);
      const name = nameIn(workload);
      const text = `${name} has ${seconds(dueAt - setAt)}: ${short(because[0] ?? '')}`;
      if (known === undefined) texts.push(...this.#once(`deadline ${name}`, text));
      else if (dueAt > known + 1) later.push(dueAt - known);
      else same.push(key);
    }
    const most = seconds(Math.max(0, ...later));
    const moved = `${later.length} deadlines start over, up to ${most} later`;
    const on = `${same.length} deadlines stay as they were`;
    if (later.length + same.length === 0) return texts;
    return [...texts, ...this.#once('restart', later.length > 0 ? moved : on)];
  }

  /** Workloads below their budgets, and those without any pod that serves. */
  #outages(): readonly string[] {
    return this.#side.view().workloads.flatMap(({ name, serving, wanted, needed }) => {
      if (wanted > 0 && serving === 0)
        return this.#once(`out ${name}`, `${name} is down: 0 of ${wanted} serve`);
      if (needed === null || serving >= needed) return [];
      return this.#once(`below ${name}`, `${name} below budget: ${serving} of ${needed}`);
    });
  }

  #once(key: string, text: string): readonly string[] {
    if (this.#said.has(key)) return [];
    this.#said.add(key);
    return [text];
  }
}

/** A reason without what every taint of a node has. */
function short(reason: string): string {
  return reason.replace('node.kubernetes.io/', '').replace(':NoExecute', '');
}

/** Pod-minutes of all workloads. */
export function podMinutesLost({ workloads }: Pick<Summary, 'workloads'>): number {
  return workloads.reduce((sum, { podMinutesLost: lost }) => sum + lost, 0);
}

function seconds(count: number): string {
  return formatDuration(Math.round(count) * 1000);
}
