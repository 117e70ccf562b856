import { createEngine, describeReason, makeNode, makePod } from '@taintmgr/core';

const engine = createEngine();
const tolerations = [
  { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
];
const pod = makePod({ name: 'db-0', nodeName: 'node-1', tolerations });
const node = makeNode({ name: 'node-1', taints: ['maintenance=kernel:NoExecute'] });

engine.handle(0, { kind: 'nodeUpsert', node: makeNode({ name: 'node-1' }) });
engine.handle(0, { kind: 'podUpsert', pod });
engine.handle(0, { kind: 'synced' });
engine.handle(1000, { kind: 'nodeUpsert', node });

for (let now = engine.nextWake(); now !== null; now = engine.nextWake()) {
  for (const command of engine.handle(now, { kind: 'tick' })) {
    console.log(`at ${now}: ${command.kind}`);
    if (command.kind === 'deletePod') console.log(`  it ${command.because.map(describeReason)}`);
    if (!('id' in command)) continue;
    engine.handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
    if (command.kind === 'deletePod') engine.handle(now, { kind: 'podDelete', uid: pod.uid });
  }
}
