import { plots, type StoryName } from './plots.ts';
import type { Outcome } from './stage.ts';
import { runSeed } from './story.ts';

/** What came of the story that a seed tells. */
export interface Telling extends Outcome {
  readonly seed: number;
  readonly story: StoryName;
}

/** The kind of story that a seed tells when nobody asks for another: the kinds in turn. */
export function storyOf(seed: number): StoryName {
  const names = Object.keys(plots) as readonly StoryName[];
  return names[seed % names.length] ?? 'whole';
}

/** Tells a seed's story, or the one of that kind. */
export function tellSeed(seed: number, story: StoryName | null): Telling {
  const name = story ?? storyOf(seed);
  return { seed, story: name, ...runSeed(name, seed) };
}
