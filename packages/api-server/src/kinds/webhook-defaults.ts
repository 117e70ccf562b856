// The defaults of what says which webhooks are asked.
import type { KubeObject } from '@taintmgr/sim-cluster/server';
import { withScope } from './policy-defaults.ts';

const httpsPort = 443;

/** A new or changed ValidatingWebhookConfiguration. */
export function admitWebhooks(configuration: KubeObject): KubeObject {
  const { webhooks } = configuration;
  if (!webhooks) return configuration;
  return { ...configuration, webhooks: webhooks.map(withDefaults) };
}

function withDefaults(webhook: KubeObject['spec']): object {
  const { clientConfig = {}, rules } = webhook;
  const { service } = clientConfig;
  return {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    ...webhook,
    clientConfig: service
      ? { ...clientConfig, service: { port: httpsPort, ...service } }
      : clientConfig,
    ...(rules ? { rules: withScope(rules) } : {}),
  };
}
