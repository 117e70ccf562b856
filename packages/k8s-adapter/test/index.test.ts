import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as door from '../src/index.ts';

it('opens exactly these', () => {
  assert.deepEqual(Object.keys(door).sort(), [
    'ApiClient',
    'ApiError',
    'ConnectionError',
    'HttpTransport',
    'KubeconfigError',
    'Loop',
    'PressureLoop',
    'VirtualDriver',
    'connectionFlags',
    'connectionOptions',
    'defaultElectionTiming',
    'defaultPollOptions',
    'deletePodRequest',
    'drive',
    'evictPodRequest',
    'flightApiVersion',
    'flightHeadFrom',
    'flightLine',
    'flightLineFrom',
    'getNodeRequest',
    'listRequest',
    'loadKubeconfig',
    'newEventRequest',
    'nodeFromJson',
    'nodesPath',
    'ownConditionType',
    'ownTaintKey',
    'podFromJson',
    'podsPath',
    'pressureNodeFromJson',
    'pressurePodFromJson',
    'redactCommand',
    'redactEvent',
    'setTaintsRequest',
    'summaryRequest',
    'typedApi',
  ]);
});
