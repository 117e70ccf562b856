import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createPressureMachine } from '@taintmgr/core/pressure';
import { runPressureScript } from './script.ts';

// Each file holds commands and, indented under each, what the machine answered. With REWRITE=1 the
// answers are written anew; commit only differences you can explain.
const folder = new URL('../testdata/pressure/', import.meta.url);

describe('pressure transcripts', () => {
  for (const file of readdirSync(folder).sort()) {
    it(file, () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8');
      const script = transcript.replace(/^ {4}.*\n/gm, '');
      const output = runPressureScript(script);
      if (process.env.REWRITE === '1') writeFileSync(new URL(file, folder), output);
      else assert.equal(output, transcript);
    });
  }
});

it('time goes forward', () => {
  const machine = createPressureMachine();
  machine.handle(5, { kind: 'tick' });
  assert.throws(() => machine.handle(4, { kind: 'tick' }), /time goes forward/);
});

it('a wake is never before what was heard last', () => {
  const machine = createPressureMachine({
    settings: { evictionHard: { 'memory.available': '1Gi' } },
  });
  const node = { uid: 'n', labels: {}, conditions: [] };
  machine.handle(0, { kind: 'synced' });
  machine.handle(1000, { kind: 'pressureNode', node: { ...node, name: 'n1' } });
  machine.handle(2000, { kind: 'pressureNode', node: { ...node, name: 'n2' } });
  assert.equal(machine.nextWake(), 2000);
  machine.handle(2000, { kind: 'tick' });
  assert.equal(machine.nextWake(), null);
});
