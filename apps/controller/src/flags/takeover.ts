// What --takeover needs beside it.
import type { ChosenControllers } from './controllers.ts';
import type { Settings } from './settings.ts';

type Need = readonly [
  name: keyof Settings,
  isMet: (settings: Settings, controllers: ChosenControllers) => boolean,
  want: string,
];

const needs: readonly Need[] = [
  ['dryRun', ({ dryRun }) => dryRun === 'none', 'none beside --takeover, which refuses evictions'],
  ['leaderElect', ({ leaderElect }) => leaderElect, 'true beside --takeover: one replica decides'],
  [
    'publishStatus',
    ({ publishStatus }) => publishStatus,
    'true beside --takeover: its heartbeat is what the policies go by',
  ],
  [
    'clusterPolicies',
    ({ clusterPolicies }) => clusterPolicies,
    'true beside --takeover, which reads the labels of namespaces',
  ],
  [
    'semantics',
    ({ semantics }) => semantics === 'precise',
    'precise beside --takeover: what upstream does, kube-controller-manager does itself',
  ],
  [
    'controllers',
    (_, { enabled }) => enabled.includes('taint-eviction-controller'),
    'taint-eviction-controller among them beside --takeover',
  ],
  [
    'controllers',
    (_, { enabled }) => !enabled.includes('node-lifecycle-controller'),
    'beside --takeover none that kube-controller-manager runs: *,-node-lifecycle-controller',
  ],
];

/** What is missing for --takeover: which setting, and what it should be; null: nothing. */
export function takeoverFault(
  settings: Settings,
  controllers: ChosenControllers,
): { readonly name: keyof Settings; readonly want: string } | null {
  if (!settings.takeover) return null;
  const [unmet] = needs.filter(([, isMet]) => !isMet(settings, controllers));
  return unmet ? { name: unmet[0], want: unmet[2] } : null;
}
