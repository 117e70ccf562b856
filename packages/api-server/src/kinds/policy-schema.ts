// The shapes of admission policies and of what binds them.
import {
  always,
  condition,
  labelSelector,
  list,
  listBy,
  type Struct,
  struct,
  topLevel,
} from '@taintmgr/sim-cluster/server';

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
export const validatingAdmissionPolicy: Struct = topLevel('ValidatingAdmissionPolicy', {
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
export const validatingAdmissionPolicyBinding: Struct = topLevel(
  'ValidatingAdmissionPolicyBinding',
  {
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
  },
);
