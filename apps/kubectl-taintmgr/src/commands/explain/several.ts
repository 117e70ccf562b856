// `explain node A B`, `explain nodes -l pool=gpu`, and the same of pods: named objects in full, as `kubectl
// describe` prints them, and selected ones in a line each.
import {
  type ListAnswer,
  type NodeAnswer,
  nodesEvictedBy,
  nodesSubject,
  type PodAnswer,
  podsAsked,
  podsIn,
  podsSubject,
  type Several,
} from '@taintmgr/k8s-adapter/explain';
import { renderColumns, renderFields } from '../../render/table.ts';
import { columnsOf, podsField, renderNode, renderPods } from './node-table.ts';
import { describePod } from './pod.ts';
import { podNames, type View } from './view.ts';
import { countsField, nodeColumns } from './zone.ts';

/** Between two full answers. */
const between = '\n\n\n';

/** Several nodes. */
export function nodesView(several: Several): View<ListAnswer<NodeAnswer>> {
  const isNamed = several.names.length > 0;
  return {
    subject: nodesSubject(several),
    show: (explained) => {
      const { survey, question } = explained;
      const { nodes } = explained.report;
      const columns = columnsOf(explained);
      return {
        get rows() {
          return explained.document.items;
        },
        names: podNames(podsIn(explained.report)),
        table: (options) => {
          if (isNamed) return nodes.map((node) => renderNode(node, columns, options)).join(between);
          if (nodes.length === 0) return 'No nodes found.';
          const table = renderColumns(nodeColumns(survey.at, question.after), nodes, options);
          if (!options.headers) return table;
          const by = nodesEvictedBy(nodes, survey.evictor);
          const head = renderFields([countsField(nodes), ['Evicted by', by]], options);
          return [...head, '', table].join('\n');
        },
      };
    },
  };
}

/** Several pods of a namespace. */
export function podsView(namespace: string, several: Several): View<ListAnswer<PodAnswer>> {
  const isNamed = several.names.length > 0;
  return {
    subject: podsSubject(namespace, several),
    show: (explained) => {
      const { survey, report } = explained;
      const pods = podsAsked(report, several.names);
      const nodeOf = (name: string) => report.nodes.find(({ facts }) => facts.node.name === name);
      return {
        get rows() {
          return explained.document.items;
        },
        names: podNames(pods),
        table: (options) => {
          if (pods.length === 0) return `No pods found in namespace ${namespace}.`;
          if (isNamed && !options.wide) {
            const blocks = pods.map((pod) => {
              const node = nodeOf(pod.facts.pod.nodeName) ?? null;
              return describePod(node, pod, explained, options);
            });
            return blocks.join(between);
          }
          const columns = { ...columnsOf(explained), byNode: true };
          const table = renderPods(pods, columns, options);
          if (!options.headers) return table;
          const by = nodesEvictedBy(report.nodes, survey.evictor);
          const head = renderFields([podsField(pods), ['Evicted by', by]], options);
          return [...head, '', table].join('\n');
        },
      };
    },
  };
}
