import { describe } from 'node:test';
import { runScript } from '../world/reflector/reflector-script.ts';
import { testTranscripts } from '../world/transcripts.ts';

describe('reflector transcripts', () => {
  testTranscripts(new URL('../testdata/proto/reflector/', import.meta.url), runScript);
});
