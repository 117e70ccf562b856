// Checks recorded stories of workloads: files of vectors whose names begin with `workloads`.
import { differences } from './compare.ts';
import { playStory } from './player.ts';
import type { Story } from './story.ts';

/** The differences between one recorded story, a line of the file, and the simulated cluster; null: none. */
export function checkStory(line: string): string | null {
  const story: Story = JSON.parse(line);
  const found = differencesOf(story);
  return found.length === 0 ? null : `${story.name}: ${found.join('; ')}`;
}

/** A story that cannot be played to its end says why. */
function differencesOf(story: Story): readonly string[] {
  try {
    return differences(story, playStory(story));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
