import { type Random, seededRandom } from '@taintmgr/sim-cluster';

/** Values drawn from a seed. */
export class Draw {
  readonly random: Random;

  constructor(seed: number, purpose: number) {
    this.random = seededRandom(Math.imul(seed, 0x9e3779b1) + Math.imul(purpose, 0x85ebca6b));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  /** One of the values; throws for none. */
  of<T>(values: readonly T[]): T {
    if (values.length === 0) throw new Error('nothing to draw from');
    return values[Math.floor(this.random() * values.length)] as T;
  }

  /** One of the values, each as likely as its weight. */
  weighted<T>(entries: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.random() * entries.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of entries) {
      left -= weight;
      if (left < 0) return value;
    }
    return this.of(entries)[1];
  }
}
