import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod, type Reason } from '@taintmgr/core';
import { livePause, liveRules } from '@taintmgr/page';

const taint = { key: 'health', value: '', effect: 'NoExecute', timeAdded: 1000 } as const;

/** A pod that leaves for a taint of the device, which this one has put on. */
function leaving(
  name: string,
  device: string,
  source: { readonly kind: 'rule'; readonly name: string } | 'driver',
) {
  const from = source === 'driver' ? { kind: 'slice', name: 'n1-gpu', index: 0 } : source;
  const tainted = { device: { driver: 'gpu', pool: 'n1', device }, claim: 'c', source: from };
  const counted = { taint, start: 1000, startSource: 'timeAdded', deadline: 1000 };
  const because = [{ code: 'NoToleration', ...counted, device: tainted } as Reason] as const;
  const pod = makePod({ namespace: 'shop', name, uid: name });
  return { pod, decision: { kind: 'evict', deadline: 1000, because } as const };
}

describe('the DeviceTaintRules of a live cluster', () => {
  const ecc = { kind: 'rule', name: 'ecc' } as const;

  it('are those for which pods are to leave, and three of their devices', () => {
    const pods = ['a', 'b', 'c', 'd', 'a'].map((device, at) => leaving(`p${at}`, device, ecc));
    const text =
      'taints gpu/n1/a, gpu/n1/b, gpu/n1/c and 1 device more health:NoExecute: 5 pods to leave';
    assert.deepEqual(liveRules(pods), [
      { kind: 'rule', name: 'ecc', from: 1000, until: null, text },
    ]);
  });

  it('are none of pods that are gone already, that stay, or that leave for a driver', () => {
    const going = leaving('going', 'a', ecc);
    const because = going.decision.because;
    assert.deepEqual(
      liveRules([
        leaving('driven', 'a', 'driver'),
        { ...going, pod: { ...going.pod, deletionTimestamp: 1 } },
        { ...going, decision: { kind: 'keep', because } },
      ]),
      [],
    );
  });
});

it('a pause of a file has no beginning', () => {
  const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
  const pause = { name: 'night', uid: '', scope, readiness: false, deadlines: true, reason: '' };
  assert.deepEqual(livePause({ ...pause, since: 5, until: 9 }, 'all evictions for taints'), {
    ...{ kind: 'pause', name: 'night', from: null, until: 9 },
    text: 'holds all evictions for taints',
  });
});
