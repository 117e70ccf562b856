import { describe } from 'node:test';
import { testTranscripts } from '../world/transcripts.ts';
import { runPodWatchScript } from './pod-watch-script.ts';

describe('source of pods', () => {
  testTranscripts(new URL('../testdata/pod-watch/', import.meta.url), runPodWatchScript);
});
