// Admission policies, what binds them, and webhooks.
import { admitBinding, admitNewPolicy, admitPolicy } from '../defaults/admission.ts';
import { admitWebhooks } from '../defaults/webhooks.ts';
import {
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
} from '../schema/admission.ts';
import { validatingWebhookConfiguration } from '../schema/webhooks.ts';
import { validateBinding } from '../validation/policy/binding.ts';
import { validatePolicy } from '../validation/policy/policy.ts';
import { validateWebhooks } from '../validation/webhooks.ts';
import { defineResource, type Resource, statusSubresource } from './resource.ts';

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
