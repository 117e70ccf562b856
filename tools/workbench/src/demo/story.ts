// The hour that the demo plays: what happens when, as docs/scenarios/demo.yaml has it.
import type { Millis } from '@taintmgr/core/time';

/** An event of the demo, with the words for the audience. */
export interface Scene {
  /** Minutes after the beginning; the scenario does it at that time. */
  readonly minute: number;
  readonly text: string;
}

/** Scenes whose figures are counted together. */
export interface Chapter {
  readonly title: string;
  readonly scenes: readonly Scene[];
}

export const hour: Millis = 3_600_000;

export const chapters: readonly Chapter[] = [
  {
    title: 'Zone outage',
    scenes: [
      { minute: 2, text: 'zone-b loses power' },
      { minute: 5, text: 'Both controllers restart' },
      { minute: 18, text: 'Power returns to zone-b' },
    ],
  },
  {
    title: 'Wrong taint',
    scenes: [
      { minute: 24, text: 'A faulty health checker taints every node' },
      { minute: 32, text: 'An operator removes the taints' },
      { minute: 34, text: 'An operator resumes evictions' },
    ],
  },
  {
    title: 'Kernel upgrade',
    scenes: [{ minute: 40, text: 'Kernel upgrade: a taint on each node for 2m' }],
  },
];
