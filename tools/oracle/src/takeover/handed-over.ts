// Which namespaces have been handed over, by the plain rule.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** Whether pods of this namespace are decided about by the client; of one that is gone they are not. */
export function isHandedOver(namespace: KubeObject | null): boolean {
  return namespace?.metadata.labels?.['taintmgr.dev/takeover'] === 'enabled';
}
