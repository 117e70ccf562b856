// The validation of ValidatingAdmissionPolicyBindings.
import type { Cause, KubeObject } from '@taintmgr/sim-cluster/server';
import {
  duplicateValue,
  forbiddenValue,
  invalidValue,
  type LabelSelector,
  notSupported,
  required,
  subdomainErrors,
  validateMetadata,
  validateSelector,
} from '@taintmgr/sim-cluster/server';
import { validateMatchResources } from './match-resources.ts';

const actions = ['Audit', 'Deny', 'Warn'] as const;
const notFoundActions = ['Deny', 'Allow'] as const;

/** Selects the parameters of a policy. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

/** The rules for a binding. */
export function validateBinding(binding: KubeObject): readonly Cause[] {
  const { policyName = '', paramRef, matchResources, validationActions } = binding.spec;
  const names = policyName === '' ? [] : subdomainErrors(policyName);
  return [
    ...validateMetadata(binding),
    ...(policyName === '' ? [required('spec.policyName')] : []),
    ...names.map((error) => invalidValue('spec.policyName', policyName, error)),
    ...(paramRef ? validateParamRef(paramRef, 'spec.paramRef') : []),
    ...(matchResources ? validateMatchResources(matchResources, 'spec.matchResources') : []),
    ...validateActions(validationActions ?? [], 'spec.validationActions'),
  ];
}

function validateParamRef(ref: ParamRef, field: string): readonly Cause[] {
  const { name = '', selector, parameterNotFoundAction: action } = ref;
  const causes: Cause[] = [];
  if (name !== '' && selector) {
    const text = 'name and selector are mutually exclusive';
    causes.push(forbiddenValue(`${field}.name`, text), forbiddenValue(`${field}.selector`, text));
  }
  if (name === '' && !selector) {
    causes.push(required(field, 'one of name or selector must be specified'));
  }
  if (selector) causes.push(...validateSelector(selector, `${field}.selector`));
  const actionField = `${field}.parameterNotFoundAction`;
  if (action === undefined) causes.push(required(actionField));
  else if (!notFoundActions.some((known) => known === action)) {
    causes.push(notSupported(actionField, action, notFoundActions));
  }
  return causes;
}

function validateActions(given: readonly string[], field: string): readonly Cause[] {
  if (given.length === 0) return [required(field, 'at least one validation action is required')];
  const causes = given.flatMap((action, at) => {
    const place = `${field}[${at}]`;
    if (given.indexOf(action) < at) return [duplicateValue(place, action)];
    return actions.some((known) => known === action) ? [] : [notSupported(place, action, actions)];
  });
  if (given.includes('Deny') && given.includes('Warn')) {
    const text =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    causes.push(invalidValue(field, given, text));
  }
  return causes;
}
