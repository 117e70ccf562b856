// Admission policies and what binds them.
import { admitBinding, admitNewPolicy, admitPolicy } from '../defaults/admission.ts';
import {
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
} from '../schema/admission.ts';
import { validateBinding } from '../validation/policy/binding.ts';
import { validatePolicy } from '../validation/policy/policy.ts';
import { defineResource, type Resource, statusSubresource } from './resource.ts';

const common = {
  group: 'admissionregistration.k8s.io',
  namespaced: false,
  categories: ['api-extensions'],
  generation: true,
  unconditionalUpdate: false,
} as const;

/** ValidatingAdmissionPolicies and their bindings. */
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
];
