// The simulated cluster does with workloads what the real controllers did that were recorded.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Story } from './story.ts';
import { checkStory } from './workloads.ts';

const file = new URL('../testdata/vectors/workloads.jsonl', import.meta.url);
const lines = readFileSync(file, 'utf8').trim().split('\n');

const nameOf = (line: string): string => (JSON.parse(line) as Story).name;

describe('stories recorded of kube-controller-manager 1.36.2', () => {
  for (const line of lines) it(nameOf(line), () => assert.equal(checkStory(line), null));
});

describe('a story that was not so is told from one that was', () => {
  const name = 'deploy-evict-replacement-at-delete';
  const story: Story = JSON.parse(lines.find((line) => nameOf(line) === name) ?? assert.fail());
  const [first = assert.fail(), ...others] = story.expected;
  const ready = story.expected.filter(({ event }) => event === 'podReady');
  const cases: readonly (readonly [what: string, told: Partial<Story>, said: RegExp])[] = [
    ['by a time', { expected: [{ ...first, at: first.at + 1 }, ...others] }, /: at 0\.00/],
    [
      'by an event too many',
      { expected: story.expected.filter((one) => !ready.includes(one)) },
      /podReady web\/rev1#2: not expected/,
    ],
    [
      'by an event too few',
      { expected: [...story.expected, ...ready] },
      /podReady web\/rev1#2: missing/,
    ],
    ['by its end', { final: { pods: story.initial.pods } }, /final: missing .*web\/rev1#0/],
    ['by its beginning', { initial: { pods: [] } }, /initial: not expected .*web\/rev1#0/],
  ];
  for (const [what, told, said] of cases) {
    it(what, () => assert.match(checkStory(JSON.stringify({ ...story, ...told })) ?? '', said));
  }
});
