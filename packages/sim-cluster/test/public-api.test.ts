import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as door from '../src/index.ts';

it('the package exports this and nothing else', () => {
  assert.deepEqual(Object.keys(door).sort(), [
    'ApiError',
    'ApiHistory',
    'ApiServer',
    'Checkers',
    'Cluster',
    'LifecycleCheckers',
    'PressureChecker',
    'RealClock',
    'TaintManagerStandIn',
    'VirtualClock',
    'createCertificate',
    'daemonSet',
    'deployment',
    'encodeFrame',
    'encodeObject',
    'evictionDefaults',
    'job',
    'kubeconfigText',
    'lifecycleDefaults',
    'namespace',
    'node',
    'pdb',
    'pod',
    'seededRandom',
    'serviceAccountUser',
    'startEmbedded',
    'startHttps',
    'statefulSet',
    'taint',
    'threeZones',
    'toleration',
    'writeKubeconfig',
  ]);
});
