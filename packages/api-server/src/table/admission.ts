// The table columns of admission policies and of what binds them.
import type { Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, nameColumn } from './columns.ts';

const unset = '<unset>';

/** ValidatingAdmissionPolicies as kubectl prints them. */
export const policyPrinter: Printer = {
  columns: [
    nameColumn,
    column(
      'Validations',
      'Validations indicates the number of validation rules defined in this configuration',
      'integer',
    ),
    column(
      'ParamKind',
      'ParamKind specifies the kind of resources used to parameterize this policy',
    ),
    ageColumn,
  ],
  cells: (policy, now) => {
    const { validations = [], paramKind } = policy.spec;
    const kind = paramKind ? `${paramKind.apiVersion}/${paramKind.kind}` : unset;
    return [policy.metadata.name, validations.length, kind, age(policy, now)];
  },
};

/** ValidatingAdmissionPolicyBindings as kubectl prints them. */
export const policyBindingPrinter: Printer = {
  columns: [
    nameColumn,
    column(
      'PolicyName',
      'PolicyName indicates the policy definition which the policy binding binded to',
    ),
    column('ParamRef', 'ParamRef indicates the param resource which sets the configration param'),
    ageColumn,
  ],
  cells: (binding, now) => {
    const { policyName = '', paramRef } = binding.spec;
    const { name = '', namespace = '' } = paramRef ?? {};
    const ref = paramRef ? `${namespace ? `${namespace}/` : ''}${name || '*'}` : unset;
    return [binding.metadata.name, policyName, ref, age(binding, now)];
  },
};

/** ValidatingWebhookConfigurations as kubectl prints them. */
export const webhooksPrinter: Printer = {
  columns: [
    nameColumn,
    column(
      'Webhooks',
      'Webhooks indicates the number of webhooks registered in this configuration',
      'integer',
    ),
    ageColumn,
  ],
  cells: ({ metadata, webhooks = [] }, now) => [
    metadata.name,
    webhooks.length,
    age({ metadata }, now),
  ],
};
