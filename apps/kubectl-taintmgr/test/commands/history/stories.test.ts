import { readdirSync } from 'node:fs';
import { after, describe, it, mock } from 'node:test';
import { loadRecorded } from '../../world/recorded-cluster.ts';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';
import { playTranscript } from '../../world/transcript.ts';

// Stories that were recorded on real programs of Kubernetes: the answers beside who truly asked.

const folder = new URL('../../testdata/commands/history/stories/', import.meta.url);

/** `recorded STORY MOMENT SECONDS`: from here on it is so many seconds after that moment. */
const stage = /^recorded (\S+) (\S+) (\d+)$/;

describe('stories of pods that went', () => {
  const started: TestCluster[] = [];
  after(() => {
    mock.timers.reset();
    return Promise.all(started.map((cluster) => cluster.stop()));
  });

  const play = async (line: string) => {
    const [, story, moment, seconds] = stage.exec(line) ?? [];
    if (story === undefined || moment === undefined) {
      return await run(...line.replace('kubectl taintmgr ', '').split(' '));
    }
    mock.timers.reset();
    const cluster = await startWithDefinitions();
    started.push(cluster);
    loadRecorded(cluster, story, moment, Number(seconds) * 1000);
    process.env.KUBECONFIG = cluster.kubeconfig;
    return { code: 0, out: '', err: '' };
  };

  for (const file of readdirSync(folder)) {
    it(file, () => playTranscript(new URL(file, folder), play));
  }
});
