import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Loss } from '@taintmgr/page';
import { LossPlayer } from '../../../../src/commands/simulate/each/loss-player.ts';
import { LossThread } from '../../../../src/commands/simulate/each/loss-thread.ts';
import type { PlannedLoss } from '../../../../src/commands/simulate/each/plan.ts';
import { playLosses } from '../../../../src/commands/simulate/each/play-losses.ts';
import { dataOf } from '../../../../src/commands/simulate/source/handover.ts';
import { readSource } from '../../../../src/commands/simulate/source/read.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

// Threads play what this one would have played, in whatever order; one that dies takes one loss with it.

const { write } = temporaryFiles();
const names = ['zone-a-1', 'zone-a-2', 'zone-b-1', 'zone-b-2', 'zone-c-1', 'zone-c-2'];
const planned = names.map((name): PlannedLoss => {
  return { name, event: `{at: 1m, stopKubelet: {node: ${name}}}`, nodes: [name], pods: 0 };
});
const { signal: never } = new AbortController();

/** Dies while it plays a loss. */
class DoomedThread extends LossThread {
  override play(loss: PlannedLoss): Promise<Loss> {
    const answer = super.play(loss);
    if (loss.name === 'zone-b-1') this.stop();
    return answer;
  }
}

async function stage() {
  const source = await readSource([write('topology.yaml', topology)]);
  const script = { script: null, events: [], until: 600_000 };
  const rules = { semantics: 'precise', policies: [], failIf: [], allowsUnknown: false } as const;
  const job = { source: dataOf(source), script, ...rules, seed: 1, seeds: 2, until: 600_000 };
  const player = new LossPlayer(job, source);
  const baseline = await player.baseline({ live: null, interrupt: never }, () => {});
  const play = (one: PlannedLoss) => player.play(one, baseline, never);
  const here = await playLosses({
    ...{ planned, threads: 0, play, live: null, interrupt: never },
    startThread: () => assert.fail('no thread is wanted'),
  });
  const nobody = (): never => assert.fail('all are played in threads');
  return { data: { job, baseline }, here, play, nobody };
}

describe('threads', () => {
  it('play what one alone plays', async () => {
    const { data, here, nobody } = await stage();
    const there = await playLosses({
      ...{ planned, threads: 2, play: nobody, live: null, interrupt: never },
      startThread: () => new LossThread(data),
    });
    assert.deepEqual(there, here);
    assert.ok(here.losses.every((loss) => loss && loss.failed === null && loss.podMinutesLost > 0));
  });

  it('have a successor when one dies, and the loss that it played has failed', async () => {
    const { data, here, nobody } = await stage();
    const { losses, withoutThreads } = await playLosses({
      ...{ planned, threads: 2, play: nobody, live: null, interrupt: never },
      startThread: () => new DoomedThread(data),
    });
    assert.equal(withoutThreads, null);
    assert.deepEqual(
      losses.map((loss) => loss?.failed),
      names.map((name) =>
        name === 'zone-b-1' ? 'the thread that played it died: it ended with 1' : null,
      ),
    );
    const others = (all: typeof losses) => all.filter((loss) => loss?.name !== 'zone-b-1');
    assert.deepEqual(others(losses), others(here.losses));
  });

  it('are done without where none can be started', async () => {
    const { data, here, play } = await stage();
    const broken = { ...data.job.script, script: { file: 'broken.yaml', text: 'none' } };
    const { losses, withoutThreads } = await playLosses({
      ...{ planned, threads: 2, play, live: null, interrupt: never },
      startThread: () => new LossThread({ ...data, job: { ...data.job, script: broken } }),
    });
    assert.match(withoutThreads ?? '', /^broken.yaml:1:1: /);
    assert.deepEqual(losses, here.losses);
  });

  it('end when somebody stops them, and keep what is done', async () => {
    const { data, here, nobody } = await stage();
    const interrupt = new AbortController();
    const shown: string[] = [];
    const show = (text: string): void => {
      shown.push(text);
      if (text.startsWith('2 of 6')) interrupt.abort();
    };
    const { losses } = await playLosses({
      ...{ planned, threads: 2, play: nobody, live: { show, clear: () => {} } },
      startThread: () => new LossThread(data),
      interrupt: interrupt.signal,
    });
    const played = losses.flatMap((loss, index) => (loss ? [[loss, here.losses[index]]] : []));
    assert.equal(played.length, 2);
    for (const [one, other] of played) assert.deepEqual(one, other);
    assert.match(
      shown.join('\n'),
      /^0 of 6 losses\n1 of 6 losses, about \d+s left\n2 of 6 losses, .*$/,
    );
  });
});
