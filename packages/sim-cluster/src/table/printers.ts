// Tables of any kind as kubectl asks for them; kinds without columns of their own show name and
// age.
import { policyBindingPrinter, policyPrinter } from './admission.ts';
import { age, ageColumn, nameColumn, type Printer } from './columns.ts';
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
  statefulSetPrinter,
} from './workloads.ts';

/** Kinds without columns of their own show name and age. */
const plainPrinter: Printer = {
  columns: [nameColumn, ageColumn],
  cells: (object, now) => [object.metadata.name, age(object, now)],
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
  services: servicePrinter,
  validatingadmissionpolicies: policyPrinter,
  validatingadmissionpolicybindings: policyBindingPrinter,
  endpoints: endpointsPrinter,
  endpointslices: endpointSlicePrinter,
  configmaps: configMapPrinter,
  controllerrevisions: controllerRevisionPrinter,
};

/** How the objects of a stored resource are printed. */
export function printerFor(plural: string): Printer {
  return printers[plural] ?? plainPrinter;
}
