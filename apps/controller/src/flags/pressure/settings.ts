// The settings of node-pressure-controller.
import { defaultPressureConfig, parseEvictionFlag } from '@taintmgr/core/pressure';
import { defaultPollOptions } from '@taintmgr/k8s-adapter';
import { inputFile } from '../files.ts';
import {
  choice,
  duration,
  fractionalNumber,
  type Kind,
  serviceAccount,
  wholeNumber,
} from '../kind.ts';
import { section, setting } from '../setting.ts';

const none: BySignal = {};
const inNodePressure = section('nodePressure');

/**
 * What node-pressure-controller can be told, for all nodes that no pool of the configuration file
 * selects. Thresholds have a kubelet's names and grammar, but no defaults: at its own thresholds a
 * kubelet evicts by itself, and sooner.
 */
export const nodePressure = {
  evictionHard: inNodePressure(
    'eviction-hard',
    bySignal('<', 'memory.available<1Gi,nodefs.available<10%'),
    none,
    'thresholds at which pods of a node are evicted at once; higher than its kubelet has them',
  ),
  evictionSoft: inNodePressure(
    'eviction-soft',
    bySignal('<', 'memory.available<2Gi'),
    none,
    'thresholds at which pods of a node are evicted after a while',
  ),
  evictionSoftGracePeriod: inNodePressure(
    'eviction-soft-grace-period',
    bySignal('=', 'memory.available=1m30s'),
    none,
    'how long a soft threshold has to be met',
  ),
  evictionMinimumReclaim: inNodePressure(
    'eviction-minimum-reclaim',
    bySignal('=', 'memory.available=500Mi'),
    none,
    'so much more than a threshold has to be available before evictions end',
  ),
  evictionPressureTransitionPeriod: inNodePressure(
    'eviction-pressure-transition-period',
    duration(0),
    300_000,
    'how long the condition of a node lasts after its threshold was last met',
  ),
  evictionMaxPodGracePeriod: inNodePressure(
    'eviction-max-pod-grace-period',
    wholeNumber(-1),
    0,
    'seconds that a pod is given at most when it goes for a soft threshold; -1: as long as the pod asks for',
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
    choice(['precise', 'kubelet-1.36', 'kubelet-1.6']),
    'precise',
    'whose rules hold; with kubelet-1.36 numbers are believed however old or odd they are; ' +
      'kubelet-1.6 ranks by QoS class first, and gives 0s at hard thresholds, as in 2017',
  ),
  nodePressureEvictionRate: setting(
    'node-pressure-eviction-rate',
    'nodePressure.evictionRate',
    fractionalNumber(0.001),
    defaultPressureConfig.evictionsPerSecond ?? 1,
    'evictions per second on all nodes together',
  ),
  summarySource: inNodePressure(
    'summary-source',
    choice(['proxy', 'kubelet']),
    'proxy',
    'how nodes are asked: proxy, through the API server, for which nodes/proxy is needed; kubelet, ' +
      'at once, for which --summary-service-account needs nodes/stats only',
  ),
  summaryServiceAccount: inNodePressure(
    'summary-service-account',
    serviceAccount,
    'taintmgr-system/taintmgr-summary-reader',
    'with kubelet: whose tokens kubelets are shown; it should have no other right',
  ),
  kubeletCertificateAuthority: inNodePressure(
    'kubelet-certificate-authority',
    inputFile,
    '',
    'with kubelet: who vouches for the certificates of kubelets; by default who vouches for the ' +
      'API server',
  ),
  summaryPeriod: inNodePressure(
    'summary-period',
    duration(1000),
    defaultPollOptions.pollPeriodMs,
    'how often each node is asked what is used on it',
  ),
  summaryRate: inNodePressure(
    'summary-rate',
    fractionalNumber(0.1),
    defaultPollOptions.pollsPerSecond,
    'nodes asked per second, at most',
  ),
};

/** Settings of amounts or durations by signal, as a kubelet's flags have them. */
type BySignal = Readonly<Record<string, string>>;

/**
 * As a kubelet's flags have it, with `<` or `=` between signal and value. The configuration file has
 * an object there, which comes to us as pairs with `=`. What the values say is judged together.
 */
function bySignal(separator: '<' | '=', example: string): Kind<BySignal> {
  return {
    placeholder: '<list>',
    want: `pairs such as ${example}`,
    parse: (text) => pairs(text, separator) ?? pairs(text, '='),
    format: (values) =>
      Object.entries(values)
        .map(([signal, value]) => signal + separator + value)
        .join(','),
  };
}

function pairs(text: string, separator: '<' | '='): BySignal | null {
  try {
    return parseEvictionFlag(text, separator);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
