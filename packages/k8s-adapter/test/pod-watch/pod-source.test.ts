import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Pod } from '@taintmgr/core';
import { defaultPodWatch, nodesAndPods, PodSource } from '../../src/pod-watch/pod-source.ts';
import type { Source } from '../../src/pod-watch/source.ts';
import { podFromJson } from '../../src/proto/convert.ts';
import { Reflector } from '../../src/proto/reflector.ts';
import { listJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';
import { testTranscripts } from '../world/transcripts.ts';
import { runPodWatchScript } from './pod-watch-script.ts';

// Nodes and pods as one collection, of a cluster that is larger than a call has room for arguments.

const podCount = 150_000;
const calmMs = 60_000;
const node: Node = { name: 'n1', uid: 'uid-n1', taints: [] };

/** Nodes of which there is one: it is known from the start, and is heard of with each chunk. */
const nodes: Source = {
  handle(_, { kind }) {
    if (kind === 'start') return [{ kind: 'nodeUpsert', node }, { kind: 'synced' }];
    return kind === 'chunk' ? [{ kind: 'nodeUpsert', node }] : [];
  },
  nextWake: () => null,
  status: () => [],
  isCutOff: () => false,
  heardAt: () => null,
};

function podSource(): PodSource {
  return new PodSource({ ...defaultPodWatch, mode: 'tainted-nodes', calmMs }, (_, id) => {
    return new Reflector<Pod>({
      resource: 'pods',
      id,
      path: '/api/v1/pods',
      selectors: {},
      project: podFromJson,
      watch: true,
      streamLists: false,
      random: random(0.5),
    });
  });
}

it('wakes for pods too, and says how far they are read', () => {
  const pods = podSource();
  const source = nodesAndPods(nodes, pods);
  pods.readAll(0, true);
  const [request] = source.handle(0, { kind: 'start' }).filter(({ kind }) => kind === 'send');
  const id = request?.kind === 'send' ? request.id : assert.fail('pods are not asked for');
  source.handle(1, { kind: 'failed', id, message: 'reset' });
  const wake = source.nextWake() ?? assert.fail('pods are never asked for again');
  const again = source.handle(wake, { kind: 'tick' });
  assert.deepEqual(
    again.map(({ kind }) => kind),
    ['send'],
  );
  assert.deepEqual(
    source.status().map(({ resource }) => resource),
    ['pods'],
  );
});

it('forgets the pods of a large cluster with the event of a node that goes back to reading by node', () => {
  const pods = podSource();
  const source = nodesAndPods(nodes, pods);
  pods.readAll(0, true);
  const [request] = source.handle(0, { kind: 'start' }).filter(({ kind }) => kind === 'send');
  const id = request?.kind === 'send' ? request.id : assert.fail('pods are not asked for');
  const items = Array.from({ length: podCount }, (_, index) => podJson(`p${index}`, 'n1', '5'));
  source.handle(1, { kind: 'head', id, status: 200, headers: {} });
  source.handle(1, { kind: 'chunk', id, data: JSON.stringify({ ...listJson('Pod', '9'), items }) });
  source.handle(1, { kind: 'end', id });
  pods.readAll(2, false);
  const effects = source.handle(2 + calmMs, { kind: 'chunk', id: 'nodes', data: '' });
  assert.equal(effects.filter(({ kind }) => kind === 'podDelete').length, podCount);
});

describe('source of pods', () => {
  testTranscripts(new URL('../testdata/pod-watch/', import.meta.url), runPodWatchScript);
});
