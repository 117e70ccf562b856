// What is left on each node, in rows of numbers: the scheduler goes through them for every pod.
import type { Resources, SchedulingNode } from './node-fit.ts';

/**
 * The nodes of a pool as numbers, in the order of the pool. A few hundred are compared for each pod, which
 * in objects takes longer than all else that happens to the pod.
 */
export class Rooms {
  #cpu = new Float64Array();
  #memory = new Float64Array();
  #pods = new Float64Array();
  #used = new Float64Array();
  #zone = new Int32Array();
  #isOpen = new Uint8Array();
  /** How many siblings of the pod that is being placed are on each node and in each zone. */
  #siblings = new Int32Array();
  #zoneSiblings: number[] = [];
  #zones = new Map<string, number>();

  /** Forgets all, and has so many nodes. */
  reset(length: number): void {
    this.#cpu = new Float64Array(length);
    this.#memory = new Float64Array(length);
    this.#pods = new Float64Array(length);
    this.#used = new Float64Array(length);
    this.#zone = new Int32Array(length);
    this.#isOpen = new Uint8Array(length);
    this.#siblings = new Int32Array(length);
    this.#zones = new Map();
    this.#zoneSiblings = [];
  }

  /** Takes in what a node offers, and what is taken of it. */
  set(index: number, { allocatable, isOpen, zone }: SchedulingNode, used: Resources): void {
    this.#cpu[index] = allocatable.cpu - used.cpu;
    this.#memory[index] = allocatable.memory - used.memory;
    this.#pods[index] = allocatable.pods - used.pods;
    this.#used[index] = used.pods;
    this.#isOpen[index] = isOpen ? 1 : 0;
    const known = this.#zones.get(zone) ?? this.#zones.size;
    this.#zones.set(zone, known);
    this.#zoneSiblings[known] ??= 0;
    this.#zone[index] = known;
  }

  /** Notes that a node has so many siblings of the pod that is to be placed; 0 takes that back. */
  noteSiblings(index: number, count: number): void {
    const zone = this.#zone[index] ?? 0;
    const before = this.#siblings[index] ?? 0;
    this.#zoneSiblings[zone] = (this.#zoneSiblings[zone] ?? 0) + count - before;
    this.#siblings[index] = count;
  }

  /** Whether a node lets every pod in that asks for no node in particular. */
  isOpen(index: number): boolean {
    return this.#isOpen[index] === 1;
  }

  /** Whether there is room on a node. */
  fits(index: number, wants: Resources): boolean {
    return (
      (this.#pods[index] ?? 0) >= 1 &&
      (wants.cpu === 0 || (this.#cpu[index] ?? 0) >= wants.cpu) &&
      (wants.memory === 0 || (this.#memory[index] ?? 0) >= wants.memory)
    );
  }

  /**
   * Whether the one is better than the other: fewer siblings in its zone, then on the node, then fewer
   * pods at all.
   */
  isBetter(index: number, other: number): boolean {
    const zone = this.#inZone(index) - this.#inZone(other);
    if (zone !== 0) return zone < 0;
    const own = (this.#siblings[index] ?? 0) - (this.#siblings[other] ?? 0);
    if (own !== 0) return own < 0;
    return (this.#used[index] ?? 0) < (this.#used[other] ?? 0);
  }

  #inZone(index: number): number {
    return this.#zoneSiblings[this.#zone[index] ?? 0] ?? 0;
  }
}
