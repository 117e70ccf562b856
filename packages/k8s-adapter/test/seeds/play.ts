import { plots, type StoryName } from './plots.ts';
import type { Outcome } from './stage.ts';
import { runSeed } from './story.ts';

/** What came of the scenario that a seed plays. */
export interface SeedResult extends Outcome {
  readonly seed: number;
  readonly story: StoryName;
}

/** The kind of story that a seed plays when nobody asks for another: the kinds in turn. */
export function storyOf(seed: number): StoryName {
  const names = Object.keys(plots) as readonly StoryName[];
  return names[seed % names.length] ?? 'whole';
}

/** Plays a seed's scenario, or the one of that kind. */
export function playSeed(seed: number, story: StoryName | null): SeedResult {
  const name = story ?? storyOf(seed);
  return { seed, story: name, ...runSeed(name, seed) };
}
