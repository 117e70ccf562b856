// The kinds of workloads that the cluster's controllers look after.
import { daemonSetKind } from './daemon-set.ts';
import { deploymentKind } from './deployment.ts';
import { jobKind } from './job.ts';
import { replicaSetKind } from './replica-set.ts';
import { statefulSetKind } from './stateful-set.ts';
import type { WorkloadKind } from './workload.ts';

export const workloadKinds: readonly WorkloadKind[] = [
  deploymentKind,
  replicaSetKind,
  statefulSetKind,
  daemonSetKind,
  jobKind,
];

/** The workload resources and the resources that they create. */
export const workloadResources: ReadonlySet<string> = new Set(
  workloadKinds.flatMap(({ resource, creates }) => [resource, creates]),
);
