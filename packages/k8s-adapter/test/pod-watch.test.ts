import { describe } from 'node:test';
import { runPodWatchScript } from './pod-watch-script.ts';
import { testTranscripts } from './transcripts.ts';

describe('source of pods', () => {
  testTranscripts(new URL('./testdata/pod-watch/', import.meta.url), runPodWatchScript);
});
