// Admission policies, what binds them, and webhooks.

import { defineResource, type Resource, statusSubresource } from '@taintmgr/sim-cluster/server';
import { validateBinding } from '../policy/binding.ts';
import { validatePolicy } from '../policy/policy.ts';
import { validateWebhooks } from '../policy/webhooks.ts';
import { admitBinding, admitNewPolicy, admitPolicy } from './policy-defaults.ts';
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from './policy-schema.ts';
import { admitWebhooks } from './webhook-defaults.ts';
import { validatingWebhookConfiguration } from './webhook-schema.ts';

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
