import type { Violation } from '@taintmgr/oracle';
import { agentSabotages } from './agent-sabotages.ts';
import { clockSabotages } from './clock-sabotages.ts';
import { drainSabotages } from './drain-sabotages.ts';
import { evictionSabotages } from './eviction-sabotages.ts';
import { nodeDrainSabotages } from './node-drain-sabotages.ts';
import { nodeSabotages } from './node-sabotages.ts';
import { pauseSabotages } from './pause-sabotages.ts';
import { type StoryName, themeOf } from './plots.ts';
import { policySabotages } from './policy-sabotages.ts';
import { ruleSabotages } from './rule-sabotages.ts';
import type { Sabotage } from './sabotage.ts';
import { runSeed } from './story.ts';
import { strangerSabotages } from './stranger-sabotages.ts';
import { takeoverSabotages } from './takeover-sabotages.ts';

/** A fault to plant, and what finds it. */
export interface Planted {
  /** The kind of story that shows it. */
  readonly story: StoryName;
  /** Where it is looked for; left out: everywhere. */
  readonly theme?: string;
  /** The first seed that shows it. */
  readonly seed: number;
  /** The invariants that it breaks. */
  readonly breaks: readonly string[];
  readonly sabotage: Sabotage;
}

/** What a planted fault was found by. */
export interface Found extends Violation {
  readonly seed: number;
}

/** All faults that are planted to see whether the checkers find them, by what they do. */
export const sabotages: Readonly<Record<string, Planted>> = {
  ...evictionSabotages,
  ...nodeSabotages,
  ...agentSabotages,
  ...clockSabotages,
  ...policySabotages,
  ...pauseSabotages,
  ...ruleSabotages,
  ...drainSabotages,
  ...takeoverSabotages,
  ...nodeDrainSabotages,
  ...strangerSabotages,
};

/** Plants a fault, and tells stories until one shows it; null: none of `count` seeds does. */
export function hunt(name: string, from: number, count: number): Found | null {
  const planted = sabotages[name];
  if (!planted) throw new RangeError(`no sabotage "${name}"`);
  for (let seed = from; seed < from + count; seed++) {
    const { story, theme = themeOf(story, seed) } = planted;
    if (theme !== themeOf(story, seed)) continue;
    const { violations } = runSeed(planted.story, seed, planted.sabotage);
    const found = violations.find(({ invariant }) => planted.breaks.includes(invariant));
    if (found) return { ...found, seed };
  }
  return null;
}
