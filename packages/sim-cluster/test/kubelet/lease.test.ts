import assert from 'node:assert/strict';
import { it } from 'node:test';
import { small, stored, type VirtualCluster, virtualCluster } from '../world/virtual-cluster.ts';

// Renewals that are reported to somebody in this process in place of being written.

interface Watched {
  readonly running: VirtualCluster;
  readonly heard: string[];
  readonly written: string[];
  takes: boolean;
}

function watched(): Watched {
  const running = virtualCluster({ topology: small(['a']), without: ['conditionTaints'] });
  const test: Watched = { running, heard: [], written: [], takes: true };
  running.cluster.reportRenewals((nodeName, renewedAt) => {
    if (test.takes) test.heard.push(`${nodeName} ${seconds(new Date(renewedAt).toISOString())}`);
    return test.takes;
  });
  running.api.subscribe(
    ({ object }) => {
      test.written.push(seconds(object.spec.renewTime));
    },
    new Set(['leases']),
  );
  return test;
}

function seconds(time: string): string {
  return time.slice(14, 19);
}

it('the first renewal is written, and those after it are reported', () => {
  const { running, heard, written } = watched();
  running.pass(32_000);
  assert.deepEqual(written, ['00:01']);
  assert.deepEqual(heard, ['a-1 00:11', 'a-1 00:21', 'a-1 00:31']);
});

it('what was reported is written when the kubelet stops, and not before', () => {
  const { running, written } = watched();
  running.pass(32_000);
  running.cluster.node('a-1').stop();
  running.pass(20_000);
  assert.deepEqual(written, ['00:01', '00:31']);
  running.cluster.node('a-1').resume();
  running.pass(15_000);
  running.cluster.node('a-1').stop();
  assert.deepEqual(written, ['00:01', '00:31', '01:02']);
});

it('what nobody takes is written', () => {
  const test = watched();
  test.running.pass(15_000);
  test.takes = false;
  test.running.pass(10_000);
  test.takes = true;
  test.running.pass(10_000);
  assert.deepEqual(test.written, ['00:01', '00:21']);
  assert.deepEqual(test.heard, ['a-1 00:11', 'a-1 00:31']);
});

it('a lease that others change or delete is written again', () => {
  const { running, heard, written } = watched();
  const { api } = running;
  running.pass(15_000);
  const lease = stored(api, 'leases', 'kube-node-lease', 'a-1');
  api.update('leases', { ...lease, spec: { ...lease.spec, leaseDurationSeconds: 7 } });
  running.pass(10_000);
  assert.equal(stored(api, 'leases', 'kube-node-lease', 'a-1').spec.leaseDurationSeconds, 7);
  api.delete('leases', 'kube-node-lease', 'a-1');
  running.pass(10_000);
  assert.deepEqual(written.slice(-2), ['00:21', '00:31']);
  running.pass(10_000);
  assert.deepEqual(heard, ['a-1 00:11', 'a-1 00:41']);
});

it('versions go on as if renewals were written, so that watches that live hear of it', () => {
  const { running } = watched();
  const bookmarks: string[] = [];
  running.pass(5000);
  running.api.exchange(
    {
      method: 'GET',
      path: '/api/v1/nodes?watch=1&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=600',
      headers: {},
      body: null,
    },
    {
      head: () => {},
      data: (text) => bookmarks.push(...(String(text).match(/BOOKMARK/g) ?? [])),
      end: () => {},
      reset: () => {},
    },
  );
  const before = bookmarks.length;
  running.pass(125_000);
  assert.equal(bookmarks.length - before, 2);
});
