// `explain deployment NAME`, and of statefulset, daemonset, replicaset, job, pdb and namespace: for who owns no nodes.
import {
  blockersText,
  soon,
  type WorkloadAnswer,
  type WorkloadRow,
  workloadFields,
  workloadReport,
  workloadRows,
  workloadSubject,
} from '@taintmgr/k8s-adapter/explain';
import type { WorkloadName } from '@taintmgr/k8s-adapter/survey';
import { type Column, renderColumns, renderFields } from '../../render/table.ts';
import { columnsOf, renderPods } from './node-table.ts';
import { podNames, type View } from './view.ts';

/** A workload, a disruption budget or a namespace. */
export function workloadView(named: WorkloadName): View<WorkloadAnswer> {
  return {
    subject: workloadSubject(named),
    show: (explained) => {
      const { survey } = explained;
      const report = workloadReport(survey, explained.report);
      const { pods } = report;
      return {
        get rows() {
          return explained.document.pods;
        },
        names: podNames(pods),
        table: (options) => {
          const columns = { ...columnsOf(explained), byNode: true };
          const table =
            named.kind === 'Namespace'
              ? renderColumns(workloadColumns, workloadRows(report), options)
              : renderPods(pods, columns, options);
          if (!options.headers) return table;
          const head = renderFields(workloadFields(report, survey), options);
          if (pods.length === 0) return head.join('\n');
          return [...head, '', table].join('\n');
        },
      };
    },
  };
}

const workloadColumns: readonly Column<WorkloadRow>[] = [
  ['WORKLOAD', ({ owner }) => owner],
  ['PODS', ({ tally: { pods } }) => String(pods)],
  ['READY', ({ ready }) => String(ready)],
  ['LEAVING', ({ tally: { evict, unknown = 0 } }) => (unknown > 0 ? '?' : String(evict))],
  ['FIRST', ({ tally: { next } }) => (next === null ? '-' : soon(next))],
  ['LAST', ({ tally: { last } }) => (last === null ? '-' : soon(last))],
  [
    'BLOCKED BY',
    heldBy,
    { tone: (row) => (heldBy(row).includes('needs action') ? 'urgent' : 'soon') },
  ],
];

/** The blockers of the workload's pods, each text once. */
function heldBy({ pods }: WorkloadRow): string {
  const texts = pods
    .filter(({ facts, explanation }) => {
      return explanation.decision.kind !== 'keep' && facts.pod.deletionTimestamp === null;
    })
    .map(({ blockers, knowsBudgets }) => blockersText(blockers, knowsBudgets));
  return [...new Set(texts)].join('; ') || '-';
}
