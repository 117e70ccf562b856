import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  createEngine,
  describeReason,
  type Event,
  makeNode,
  makePod,
} from '@taintmgr/core';

// The legacy mode of kube-controller-manager: what is done and what is explained have one reason.

const minute = 60_000;

/** A node whose kubelet says that it is not ready, with a pod and one of a DaemonSet. */
function world(others = 'True') {
  const engine = createEngine({
    semantics: 'upstream-1.36',
    lifecycle: { enforcement: 'pods', podEvictionTimeoutMs: 5 * minute },
  });
  const wanted: Command[] = [];
  const handle = (now: number, event: Event): void => {
    for (const command of engine.handle(now, event)) {
      wanted.push(command);
      if (!('id' in command)) continue;
      handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
    }
  };
  const nodeAt = (now: number, status: string, transitionAt: number, name = 'n1') => {
    const condition = { type: 'Ready', reason: '', message: '', heartbeatAt: now };
    return makeNode({ name, conditions: [{ ...condition, status, transitionAt }] });
  };
  const run = (from: number, to: number, status: string, since = from): void => {
    for (let now = from; now < to; now += 5000) {
      handle(now, { kind: 'nodeUpsert', node: nodeAt(now, status, since) });
      // Where all nodes are down nothing is deleted.
      for (const name of ['n2', 'n3'])
        handle(now, {
          kind: 'nodeUpsert',
          node: nodeAt(now, status === 'True' ? 'True' : others, 0, name),
        });
      handle(now, { kind: 'tick' });
    }
  };
  const labels = { app: 'agent' };
  const [selector, namespace] = [{ matchLabels: labels }, 'shop'];
  handle(0, { kind: 'nodeUpsert', node: nodeAt(0, 'True', 0) });
  handle(0, { kind: 'podUpsert', pod: makePod({ namespace, name: 'web', nodeName: 'n1' }) });
  handle(0, {
    kind: 'podUpsert',
    pod: makePod({ namespace, name: 'agent', nodeName: 'n1', labels }),
  });
  const daemonSet = { namespace, name: 'agent', uid: 'ds', selector };
  handle(0, { kind: 'daemonSetUpsert', daemonSet });
  handle(0, { kind: 'synced' });
  run(0, 30_000, 'True');
  return { engine, run, wanted };
}

describe('the legacy mode', () => {
  it('deletes a pod for the reason that is explained before, at that time', () => {
    const { engine, run, wanted } = world();
    run(30_000, 2 * minute, 'False');
    const explained = engine.explain(2 * minute, { kind: 'pod', namespace: 'shop', name: 'web' });
    assert.ok(explained?.kind === 'pod' && explained.decision.kind === 'evict');
    const { deadline, because } = explained.decision;
    assert.equal(
      because.map(describeReason).join(),
      'node n1 is not ready (False), and is given 5m',
    );
    assert.ok(deadline >= 5.5 * minute && deadline < 5.6 * minute, `${deadline}`);
    const deletions = () => wanted.filter(({ kind }) => kind === 'deletePod');
    run(2 * minute, deadline, 'False', 30_000);
    assert.deepEqual(deletions(), []);
    run(deadline, deadline + minute, 'False', 30_000);
    const [deletion] = deletions();
    assert.ok(deletion?.kind === 'deletePod');
    assert.deepEqual([deletion.pod.name, deletion.because], ['web', because]);
  });

  // pkg/controller/util/node of Kubernetes 1.25 writes nothing to a pod whose reason is NodeLost already.
  it('marks each pod as lost once, however often it looks at the node', () => {
    const { run, wanted } = world();
    run(30_000, 15 * minute, 'False', 30_000);
    const marked = wanted.flatMap((one) => (one.kind === 'markPodLost' ? [one.pod.name] : []));
    assert.deepEqual(marked, ['web', 'agent']);
  });

  it('explains that a pod stays while all zones are down, and deletes none', () => {
    const { engine, run, wanted } = world('False');
    run(30_000, 15 * minute, 'False', 30_000);
    const web = engine.explain(15 * minute, { kind: 'pod', namespace: 'shop', name: 'web' });
    assert.ok(web?.kind === 'pod');
    assert.equal(web.decision.kind, 'keep');
    assert.deepEqual(
      wanted.filter(({ kind }) => kind === 'deletePod'),
      [],
    );
  });

  it('says the rate of a zone as the settings have it', () => {
    assert.deepEqual(
      world()
        .engine.zones(30_000)
        .map(({ rate }) => rate),
      [0.1],
    );
  });

  it('explains that pods of DaemonSets stay, and those of nodes that are ready', () => {
    const { engine, run } = world();
    const decisionOn = (now: number, name: string) => {
      const explained = engine.explain(now, { kind: 'pod', namespace: 'shop', name });
      return explained?.kind === 'pod' ? explained.decision.kind : null;
    };
    assert.equal(decisionOn(30_000, 'web'), 'keep');
    run(30_000, 2 * minute, 'False');
    assert.deepEqual(
      [decisionOn(2 * minute, 'agent'), decisionOn(2 * minute, 'web')],
      ['keep', 'evict'],
    );
  });
});
