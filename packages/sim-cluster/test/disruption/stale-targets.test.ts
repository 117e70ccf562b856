import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import { formatTime } from '../../src/objects/time.ts';
import { stored, virtualCluster } from '../world/virtual-cluster.ts';

describe('a DisruptionTarget after 2 min', () => {
  const marks: readonly (readonly [
    what: string,
    reason: string,
    phase: string,
    isEnding: boolean,
    left: string,
  ])[] = [
    ['is taken back', 'DeletionByTaintManager', 'Running', false, 'False'],
    ['of a kubelet stays', 'TerminationByKubelet', 'Running', false, 'True'],
    ['of a pod that is ending stays', 'DeletionByTaintManager', 'Running', true, 'True'],
    ['of a pod that has ended stays', 'DeletionByTaintManager', 'Failed', false, 'True'],
  ];
  for (const [what, reason, phase, isEnding, left] of marks) {
    it(what, () => {
      const { api, pass } = virtualCluster({ without: ['garbageCollection'] });
      const { spec, ...rest } = pod('default', 'web');
      const web = api.create('pods', { ...rest, spec: { ...spec, nodeName: 'n' } });
      const lastTransitionTime = formatTime(api.clock.now());
      const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime }];
      api.update('pods', { ...web, status: { ...web.status, phase, conditions } }, 'status');
      if (isEnding) api.delete('pods', 'default', 'web');
      const mark = () => conditionOf(stored(api, 'pods', 'default', 'web'), 'DisruptionTarget');
      pass(119_999);
      assert.equal(mark()?.status, 'True');
      pass(1);
      assert.equal(mark()?.status, left);
    });
  }
});
