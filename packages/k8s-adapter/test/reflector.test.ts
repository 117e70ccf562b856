import { describe } from 'node:test';
import { runScript } from './reflector-script.ts';
import { testTranscripts } from './transcripts.ts';

describe('reflector transcripts', () => {
  testTranscripts(new URL('testdata/reflector/', import.meta.url), runScript);
});
