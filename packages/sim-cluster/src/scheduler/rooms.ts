// The room left on each node, in rows of numbers: the scheduler goes through them for every pod.
import type { Place } from './place.ts';
import type { CpuAndMemory, Requests } from './resources.ts';

/**
 * The nodes of a pool as numbers, in the order of the pool. A few hundred are compared for each pod, which
 * in objects takes longer than all else that happens to the pod.
 */
export class Rooms {
  /** The allocatable amounts: thousandths of a CPU, bytes, places. */
  #cpu = new Float64Array();
  #memory = new Float64Array();
  #pods = new Float64Array();
  #usedCpu = new Float64Array();
  #usedMemory = new Float64Array();
  #scoredCpu = new Float64Array();
  #scoredMemory = new Float64Array();
  #isOpen = new Uint8Array();

  /** Forgets all, and has so many nodes. */
  reset(length: number): void {
    this.#cpu = new Float64Array(length);
    this.#memory = new Float64Array(length);
    this.#pods = new Float64Array(length);
    this.#usedCpu = new Float64Array(length);
    this.#usedMemory = new Float64Array(length);
    this.#scoredCpu = new Float64Array(length);
    this.#scoredMemory = new Float64Array(length);
    this.#isOpen = new Uint8Array(length);
  }

  /** Sets the allocatable and the used amounts of a node. */
  set(place: Place): void {
    const { index } = place;
    this.#cpu[index] = place.allocatable('cpu');
    this.#memory[index] = place.allocatable('memory');
    this.#isOpen[index] = place.offer?.isOpen ? 1 : 0;
    this.setUsed(place);
  }

  /** Sets the used amounts of a node. */
  setUsed(place: Place): void {
    const { index } = place;
    this.#pods[index] = place.allocatable('pods') - place.pods.size;
    this.#usedCpu[index] = place.cpu;
    this.#usedMemory[index] = place.memory;
    this.#scoredCpu[index] = place.scoredCpu;
    this.#scoredMemory[index] = place.scoredMemory;
  }

  /** True if a node lets in every pod that asks for no certain node. */
  isOpen(index: number): boolean {
    return this.#isOpen[index] === 1;
  }

  /** True if a node has enough CPU, memory and a place for the requests. */
  fits(index: number, { cpu, memory }: Requests): boolean {
    return (
      (this.#pods[index] ?? 0) >= 1 &&
      (cpu === 0 || (this.#cpu[index] ?? 0) - (this.#usedCpu[index] ?? 0) >= cpu) &&
      (memory === 0 || (this.#memory[index] ?? 0) - (this.#usedMemory[index] ?? 0) >= memory)
    );
  }

  /** NodeResourcesFit by LeastAllocated: the share that is left with the pod, of 100. */
  leastAllocated(index: number, { cpu, memory }: CpuAndMemory): number {
    const ofCpu = this.#cpu[index] ?? 0;
    const ofMemory = this.#memory[index] ?? 0;
    const kinds = (ofCpu > 0 ? 1 : 0) + (ofMemory > 0 ? 1 : 0);
    if (kinds === 0) return 0;
    const left =
      share(ofCpu, (this.#scoredCpu[index] ?? 0) + cpu) +
      share(ofMemory, (this.#scoredMemory[index] ?? 0) + memory);
    return Math.floor(left / kinds);
  }

  /** NodeResourcesBalancedAllocation: how much closer the shares of CPU and memory come by the pod. */
  balance(index: number, { cpu, memory }: CpuAndMemory): number {
    const usedCpu = this.#usedCpu[index] ?? 0;
    const usedMemory = this.#usedMemory[index] ?? 0;
    const ofCpu = this.#cpu[index] ?? 0;
    const ofMemory = this.#memory[index] ?? 0;
    const before = evenness(ofCpu, usedCpu, ofMemory, usedMemory);
    const after = evenness(ofCpu, usedCpu + cpu, ofMemory, usedMemory + memory);
    return Math.floor((150 + after - before) / 2);
  }
}

function share(offered: number, used: number): number {
  return offered === 0 || used > offered ? 0 : Math.floor(((offered - used) * 100) / offered);
}

/** 100 when both are used to the same share. */
function evenness(ofCpu: number, cpu: number, ofMemory: number, memory: number): number {
  if (ofCpu === 0 || ofMemory === 0) return 100;
  const apart = Math.abs(Math.min(1, cpu / ofCpu) - Math.min(1, memory / ofMemory)) / 2;
  return Math.trunc((1 - apart) * 100);
}
