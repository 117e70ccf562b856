// The shape of what says which webhooks are asked about changes.
import {
  labelSelector,
  list,
  listBy,
  type Struct,
  struct,
  topLevel,
} from '@taintmgr/sim-cluster/server';

const clientConfig = struct('WebhookClientConfig', {
  url: 'string*',
  service: struct('ServiceReference', {
    namespace: 'string!',
    name: 'string!',
    path: 'string*',
    port: 'int32*',
  }),
  caBundle: 'bytes',
});

const rule = struct('RuleWithOperations', {
  operations: list('string'),
  apiGroups: list('string'),
  apiVersions: list('string'),
  resources: list('string'),
  scope: 'string*',
});

/** admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration. */
export const validatingWebhookConfiguration: Struct = topLevel('ValidatingWebhookConfiguration', {
  webhooks: listBy(
    'name',
    struct('ValidatingWebhook', {
      name: 'string!',
      clientConfig: { ...clientConfig, always: true },
      rules: list(rule),
      failurePolicy: 'string*',
      matchPolicy: 'string*',
      namespaceSelector: labelSelector,
      objectSelector: labelSelector,
      sideEffects: 'string*',
      timeoutSeconds: 'int32*',
      admissionReviewVersions: { ...list('string'), always: true },
      matchConditions: listBy(
        'name',
        struct('MatchCondition', { name: 'string!', expression: 'string!' }),
      ),
    }),
  ),
});
