// Tables of any kind as kubectl asks for them; kinds without columns of their own show name and
// age.

import type { Printer } from '@taintmgr/sim-cluster/server';
import { policyBindingPrinter, policyPrinter, webhooksPrinter } from './admission.ts';
import { age, ageColumn, dateColumn, nameColumn } from './columns.ts';
import {
  budgetPrinter,
  eventPrinter,
  leasePrinter,
  namespacePrinter,
  nodePrinter,
} from './core.ts';
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

/** Kinds without columns of their own show name and age. */
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
};

/** How the objects of a stored resource are printed. */
export function printerFor(plural: string): Printer {
  return printers[plural] ?? plainPrinter;
}
