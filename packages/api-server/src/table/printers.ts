// Tables of any kind as kubectl asks for them; kinds without their own columns show name and age.

import type { Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, dateColumn, nameColumn } from './columns.ts';
import {
  budgetPrinter,
  eventPrinter,
  leasePrinter,
  namespacePrinter,
  nodePrinter,
} from './core.ts';
import { deviceTaintRulePrinter, resourceClaimPrinter, resourceSlicePrinter } from './device.ts';
import {
  configMapPrinter,
  endpointSlicePrinter,
  endpointsPrinter,
  servicePrinter,
} from './network.ts';
import { podPrinter } from './pod.ts';
import {
  controllerRevisionPrinter,
  daemonSetPrinter,
  deploymentPrinter,
  jobPrinter,
  replicaSetPrinter,
  scalePrinter,
  statefulSetPrinter,
} from './workloads.ts';

// The table columns of admission policies and their bindings.

const unset = '<unset>';

/** ValidatingAdmissionPolicies as kubectl prints them. */
const policyPrinter: Printer = {
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
const policyBindingPrinter: Printer = {
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
const webhooksPrinter: Printer = {
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

/** Kinds without their own columns show name and age. */
const plainPrinter: Printer = {
  columns: [nameColumn, ageColumn],
  cells: (object, now) => [object.metadata.name, age(object, now)],
};

/** A definition shows when it was made, not how old it is. */
const definitionPrinter: Printer = {
  columns: [nameColumn, { ...dateColumn, name: 'Created At' }],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? null],
};

const printers: Readonly<Record<string, Printer>> = {
  pods: podPrinter,
  nodes: nodePrinter,
  events: eventPrinter,
  leases: leasePrinter,
  poddisruptionbudgets: budgetPrinter,
  namespaces: namespacePrinter,
  daemonsets: daemonSetPrinter,
  deployments: deploymentPrinter,
  replicasets: replicaSetPrinter,
  replicationcontrollers: replicaSetPrinter,
  statefulsets: statefulSetPrinter,
  jobs: jobPrinter,
  scales: scalePrinter,
  services: servicePrinter,
  validatingadmissionpolicies: policyPrinter,
  validatingadmissionpolicybindings: policyBindingPrinter,
  validatingwebhookconfigurations: webhooksPrinter,
  endpoints: endpointsPrinter,
  endpointslices: endpointSlicePrinter,
  configmaps: configMapPrinter,
  controllerrevisions: controllerRevisionPrinter,
  customresourcedefinitions: definitionPrinter,
  devicetaintrules: deviceTaintRulePrinter,
  resourceclaims: resourceClaimPrinter,
  resourceslices: resourceSlicePrinter,
};

/** The printer of a stored resource. */
export function printerFor(plural: string): Printer {
  return printers[plural] ?? plainPrinter;
}
