// The hour that the demo plays: what happens when, as docs/scenarios/demo.yaml has it.
import type { Millis } from '@taintmgr/core/time';

/** Something that happens, as the audience is told it. */
export interface Scene {
  /** Minutes after the beginning; the scenario does it at that time. */
  readonly minute: number;
  readonly text: string;
}

/** What is counted together; it begins with its first scene. */
export interface Chapter {
  readonly title: string;
  readonly scenes: readonly Scene[];
}

export const hour: Millis = 3_600_000;

export const chapters: readonly Chapter[] = [
  {
    title: 'A zone fails',
    scenes: [
      { minute: 2, text: 'zone-b loses its power' },
      { minute: 5, text: 'the controllers are restarted' },
      { minute: 18, text: 'zone-b has power again' },
    ],
  },
  {
    title: 'A wrong taint',
    scenes: [
      { minute: 24, text: 'a health checker taints node after node, wrongly' },
      { minute: 32, text: 'somebody takes the taints off again' },
      { minute: 34, text: 'somebody lets evictions go on' },
    ],
  },
  {
    title: 'A new kernel',
    scenes: [{ minute: 40, text: 'a new kernel: each node is tainted for two minutes' }],
  },
];
