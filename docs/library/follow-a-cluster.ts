import { createEngine, describeReason, type Event } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { drive, HttpTransport, Loop, loadKubeconfig, type Notice } from '@taintmgr/k8s-adapter';

// Without leadership, the engine explains and sends nothing.
const engine = createEngine({ leader: false });
const changed = new Set<string>();
let synced = false;

function handle(now: Instant, event: Event) {
  const commands = engine.handle(now, event);
  if (event.kind === 'nodeUpsert') changed.add(event.node.name);
  if (event.kind === 'podUpsert') changed.add(event.pod.nodeName);
  if (event.kind === 'synced') synced = true;
  if (synced) changed.forEach((name) => void show(now, name));
  return commands;
}

function show(now: Instant, name: string): void {
  changed.delete(name);
  const node = engine.explain(now, { kind: 'node', name });
  if (node?.kind !== 'node') return;
  for (const { pod, decision } of node.pods) {
    if (decision.kind !== 'evict') continue;
    const why = decision.because.map(describeReason);
    console.log(`${pod.name} on ${name} leaves at ${formatTime(decision.deadline)}: it ${why}`);
  }
}

// Reads are retried.
function onNotice(notice: Notice): void {
  if (notice.kind !== 'reconnecting') return;
  console.error(`${notice.resource}: ${notice.failure.message}`);
}

function end(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

const { access } = await loadKubeconfig().catch(end);
const transport = new HttpTransport(access, 'my-program/1.0');
const loop = new Loop({ machine: { ...engine, handle }, random: Math.random });
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
await drive({ loop, transport, signal: stop.signal, onNotice }).catch(end);
transport.close();
