// Admission policies, what binds them, and webhooks.

import {
  always,
  condition,
  defineResource,
  type KubeObject,
  labelSelector,
  list,
  listBy,
  type Resource,
  type Struct,
  statusSubresource,
  struct,
  topLevel,
} from '@taintmgr/sim-cluster/server';
import { validateBinding } from '../policy/binding.ts';
import { validatePolicy } from '../policy/policy.ts';
import { validateWebhooks } from '../policy/webhooks.ts';

// The shapes of admission policies and their bindings.

const ruleWithOperations = struct('NamedRuleWithOperations', {
  resourceNames: list('string'),
  operations: list('string'),
  apiGroups: list('string'),
  apiVersions: list('string'),
  resources: list('string'),
  scope: 'string*',
});

const matchResources = struct('MatchResources', {
  namespaceSelector: labelSelector,
  objectSelector: labelSelector,
  resourceRules: list(ruleWithOperations),
  excludeResourceRules: list(ruleWithOperations),
  matchPolicy: 'string*',
});

const validation = struct('Validation', {
  expression: 'string!',
  message: 'string',
  reason: 'string*',
  messageExpression: 'string',
});

const named = { name: 'string!', expression: 'string!' } as const;

const typeChecking = struct('TypeChecking', {
  expressionWarnings: list(
    struct('ExpressionWarning', { fieldRef: 'string!', warning: 'string!' }),
  ),
});

/** admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy. */
const validatingAdmissionPolicy: Struct = topLevel('ValidatingAdmissionPolicy', {
  spec: always(
    struct('ValidatingAdmissionPolicySpec', {
      paramKind: {
        ...struct('ParamKind', { apiVersion: 'string', kind: 'string' }),
        atomic: true,
      },
      matchConstraints: matchResources,
      validations: list(validation),
      failurePolicy: 'string*',
      auditAnnotations: list(
        struct('AuditAnnotation', { key: 'string!', valueExpression: 'string!' }),
      ),
      matchConditions: listBy('name', struct('MatchCondition', named)),
      variables: listBy('name', { ...struct('Variable', named), atomic: true }),
    }),
  ),
  status: always(
    struct('ValidatingAdmissionPolicyStatus', {
      observedGeneration: 'int64',
      typeChecking,
      conditions: listBy('type', condition),
    }),
  ),
});

/** admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding. */
const validatingAdmissionPolicyBinding: Struct = topLevel('ValidatingAdmissionPolicyBinding', {
  spec: always(
    struct('ValidatingAdmissionPolicyBindingSpec', {
      policyName: 'string',
      paramRef: {
        ...struct('ParamRef', {
          name: 'string',
          namespace: 'string',
          selector: labelSelector,
          parameterNotFoundAction: 'string*',
        }),
        atomic: true,
      },
      matchResources,
      validationActions: { ...list('string'), set: true, isReplaced: true },
    }),
  ),
});

// The shape of webhook configurations.

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
const validatingWebhookConfiguration: Struct = topLevel('ValidatingWebhookConfiguration', {
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

// The defaults of webhook configurations.

const httpsPort = 443;

/** A new or changed ValidatingWebhookConfiguration. */
function admitWebhooks(configuration: KubeObject): KubeObject {
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

// The defaults of admission policies and their bindings.

interface Rule {
  readonly scope?: string;
}

interface MatchResources {
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
}

/** Rules with the scope that each has where it says none. */
const withScope = (rules: readonly Rule[]): readonly Rule[] =>
  rules.map((rule) => ({ ...rule, scope: rule.scope ?? '*' }));

function withMatchDefaults(given: MatchResources): object {
  const { resourceRules, excludeResourceRules } = given;
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    ...given,
    ...(resourceRules ? { resourceRules: withScope(resourceRules) } : {}),
    ...(excludeResourceRules ? { excludeResourceRules: withScope(excludeResourceRules) } : {}),
  };
}

/** A new or changed policy. */
function admitPolicy(policy: KubeObject): KubeObject {
  const { matchConstraints } = policy.spec;
  const spec = {
    failurePolicy: 'Fail',
    ...policy.spec,
    ...(matchConstraints ? { matchConstraints: withMatchDefaults(matchConstraints) } : {}),
  };
  return { ...policy, spec };
}

/** A new policy, without a status. */
function admitNewPolicy(policy: KubeObject): KubeObject {
  return { ...admitPolicy(policy), status: {} };
}

/** A new or changed binding. */
function admitBinding(binding: KubeObject): KubeObject {
  const { matchResources: given } = binding.spec;
  if (!given) return binding;
  return { ...binding, spec: { ...binding.spec, matchResources: withMatchDefaults(given) } };
}

const common = {
  group: 'admissionregistration.k8s.io',
  namespaced: false,
  categories: ['api-extensions'],
  generation: true,
  unconditionalUpdate: false,
} as const;

/** ValidatingAdmissionPolicies, their bindings, ValidatingWebhookConfigurations. */
export const admissionResources: readonly Resource[] = [
  defineResource({
    ...common,
    plural: 'validatingadmissionpolicies',
    kind: 'ValidatingAdmissionPolicy',
    singular: 'validatingadmissionpolicy',
    schema: validatingAdmissionPolicy,
    subresources: [statusSubresource],
    admit: admitNewPolicy,
    derive: admitPolicy,
    validate: validatePolicy,
  }),
  defineResource({
    ...common,
    plural: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
    singular: 'validatingadmissionpolicybinding',
    schema: validatingAdmissionPolicyBinding,
    admit: admitBinding,
    derive: admitBinding,
    validate: validateBinding,
  }),
  defineResource({
    ...common,
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    singular: 'validatingwebhookconfiguration',
    schema: validatingWebhookConfiguration,
    generation: 'whole',
    admit: admitWebhooks,
    derive: admitWebhooks,
    validate: validateWebhooks,
  }),
];
