// Tells what is new on one side of the demo, each kind of thing once in a chapter.

import { formatDuration } from '@taintmgr/core/time';
import type { DeadlineTrack, Summary } from '@taintmgr/page';
import { nameIn, type Side } from './side.ts';

/** How much of a list that grows has been told. */
class Unread<Item> {
  #count = 0;

  of(list: readonly Item[]): readonly Item[] {
    const fresh = list.slice(this.#count);
    this.#count = list.length;
    return fresh;
  }
}

/** Says what happens on a side. */
export class Narrator {
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

  /** What is to be said now. */
  news(): readonly string[] {
    const { evictions, deadlines, holds, refusals } = this.#side.recording;
    return [
      ...this.#deadlines(this.#unread.deadlines.of(deadlines)),
      ...this.#unread.holds.of(holds).flatMap(({ name, text }) => {
        return this.#once(`hold ${name}`, `pods are held back: limit ${name}: ${text}`);
      }),
      ...this.#unread.evictions.of(evictions).flatMap(({ workload, because: [why = ''] }) => {
        const name = nameIn(workload);
        return this.#once(`eviction ${name} ${why}`, `pods of ${name} are evicted: ${why}`);
      }),
      ...this.#unread.refusals.of(refusals).flatMap(({ budget, message }) => {
        return this.#once(`refusal ${budget}`, `the budget of ${budget} refuses: ${message}`);
      }),
      ...this.#outages(),
    ];
  }

  /** The sum of a chapter; what comes next is told anew. */
  endChapter(): string {
    const [now, before] = [this.#side.summary(), this.#before];
    this.#said.clear();
    this.#before = now;
    const evicted = now.evictions - before.evictions;
    const refused = now.refusals - before.refusals;
    const lost = Math.round(podMinutesLost(now) - podMinutesLost(before));
    return `${evicted} pods evicted, ${refused} times refused by budgets, ${lost} pod-minutes lost`;
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
      const text = `pods of ${name} have ${seconds(dueAt - setAt)}: ${because[0] ?? ''}`;
      if (known === undefined) texts.push(...this.#once(`deadline ${name}`, text));
      else if (dueAt > known + 1) later.push(dueAt - known);
      else same.push(key);
    }
    const most = seconds(Math.max(0, ...later));
    const anew = `deadlines of ${later.length} pods begin anew: up to ${most} later`;
    const on = `deadlines of ${same.length} pods go on`;
    if (later.length + same.length === 0) return texts;
    return [...texts, ...this.#once('restart', later.length > 0 ? anew : on)];
  }

  /** What budgets ask for and is not there, and who has nothing left. */
  #outages(): readonly string[] {
    return this.#side.view().workloads.flatMap(({ name, serving, wanted, needed }) => {
      if (wanted > 0 && serving === 0)
        return this.#once(`out ${name}`, `${name} is down: no pod serves`);
      if (needed === null || serving >= needed) return [];
      return this.#once(`below ${name}`, `${name} is below its budget: ${serving} of ${needed}`);
    });
  }

  #once(key: string, text: string): readonly string[] {
    if (this.#said.has(key)) return [];
    this.#said.add(key);
    return [text];
  }
}

/** Pod-minutes of all workloads. */
export function podMinutesLost({ workloads }: Pick<Summary, 'workloads'>): number {
  return workloads.reduce((sum, { podMinutesLost: lost }) => sum + lost, 0);
}

function seconds(count: number): string {
  return formatDuration(Math.round(count) * 1000);
}
