// The settings of node-pressure-controller.
import { defaultPressureConfig } from '@taintmgr/core/pressure';
import { defaultPollOptions } from '@taintmgr/k8s-adapter';
import { inputFile } from '../flags/files.ts';
import { choice, duration, fractionalNumber, serviceAccount, wholeNumber } from '../flags/kind.ts';
import { setting } from '../flags/setting.ts';
import { type BySignal, bySignal } from './by-signal.ts';

const none: BySignal = {};

/**
 * What node-pressure-controller can be told, for all nodes that no pool of the configuration file
 * selects. Thresholds have a kubelet's names and grammar, but no defaults: at its own thresholds a
 * kubelet evicts by itself, and sooner.
 */
export const nodePressure = {
  evictionHard: setting(
    'eviction-hard',
    'nodePressure.evictionHard',
    bySignal('<', 'memory.available<1Gi,nodefs.available<10%'),
    none,
    'thresholds at which pods of a node are evicted at once; higher than its kubelet has them',
  ),
  evictionSoft: setting(
    'eviction-soft',
    'nodePressure.evictionSoft',
    bySignal('<', 'memory.available<2Gi'),
    none,
    'thresholds at which pods of a node are evicted after a while',
  ),
  evictionSoftGracePeriod: setting(
    'eviction-soft-grace-period',
    'nodePressure.evictionSoftGracePeriod',
    bySignal('=', 'memory.available=1m30s'),
    none,
    'how long a soft threshold has to be met',
  ),
  evictionMinimumReclaim: setting(
    'eviction-minimum-reclaim',
    'nodePressure.evictionMinimumReclaim',
    bySignal('=', 'memory.available=500Mi'),
    none,
    'so much more than a threshold has to be available before evictions end',
  ),
  evictionPressureTransitionPeriod: setting(
    'eviction-pressure-transition-period',
    'nodePressure.evictionPressureTransitionPeriod',
    duration(0),
    300_000,
    'how long the condition of a node lasts after its threshold was last met',
  ),
  evictionMaxPodGracePeriod: setting(
    'eviction-max-pod-grace-period',
    'nodePressure.evictionMaxPodGracePeriod',
    wholeNumber(0),
    0,
    'seconds that a pod is given at most when it goes for a soft threshold',
  ),
  nodePressureMode: setting(
    'node-pressure-mode',
    'nodePressure.mode',
    choice(['evict', 'delete']),
    'evict',
    'evict: disruption budgets are kept; delete: as kubelets do, they are not asked',
  ),
  nodePressureSemantics: setting(
    'node-pressure-semantics',
    'nodePressure.semantics',
    choice(['precise', 'kubelet-1.36']),
    'precise',
    'whose rules hold; with kubelet-1.36 numbers are believed however old or odd they are',
  ),
  nodePressureEvictionRate: setting(
    'node-pressure-eviction-rate',
    'nodePressure.evictionRate',
    fractionalNumber(0.001),
    defaultPressureConfig.evictionsPerSecond ?? 1,
    'evictions per second on all nodes together',
  ),
  summarySource: setting(
    'summary-source',
    'nodePressure.summarySource',
    choice(['proxy', 'kubelet']),
    'proxy',
    'how nodes are asked: proxy, through the API server, for which nodes/proxy is needed; kubelet, ' +
      'at once, for which --summary-service-account needs nodes/stats only',
  ),
  summaryServiceAccount: setting(
    'summary-service-account',
    'nodePressure.summaryServiceAccount',
    serviceAccount,
    'taintmgr-system/taintmgr-summary-reader',
    'with kubelet: whose tokens kubelets are shown; it should have no other right',
  ),
  kubeletCertificateAuthority: setting(
    'kubelet-certificate-authority',
    'nodePressure.kubeletCertificateAuthority',
    inputFile,
    '',
    'with kubelet: who vouches for the certificates of kubelets; by default who vouches for the ' +
      'API server',
  ),
  summaryPeriod: setting(
    'summary-period',
    'nodePressure.summaryPeriod',
    duration(1000),
    defaultPollOptions.pollPeriodMs,
    'how often each node is asked what is used on it',
  ),
  summaryRate: setting(
    'summary-rate',
    'nodePressure.summaryRate',
    fractionalNumber(0.1),
    defaultPollOptions.pollsPerSecond,
    'nodes asked per second, at most',
  ),
};
