// Several nodes or pods as one subject: one survey, and a List of answers.
import { withAttachments } from '../survey/dead-nodes.ts';
import { jobEnds } from '../survey/job-ends.ts';
import { namedNodes } from '../survey/reader.ts';
import { selected } from '../survey/refusals.ts';
import { surveyForecast, surveyPods } from '../survey/survey.ts';
import type { ListAnswer, NodeAnswer, PodAnswer } from './answers.ts';
import { type Subject, surveyOptions } from './explained.ts';
import { mattersIn } from './question.ts';
import { byTimeLeftAndName, type PodReport, podsIn, type Report } from './report.ts';
import { nodeAnswer, podAnswer } from './subjects.ts';

/** Objects by their names; without names those that a label selector leaves, '': all. */
export interface Several {
  /** Names; empty: all that the selector matches. */
  readonly names: readonly string[];
  /** A label selector as `kubectl -l` has it; '': all. */
  readonly labelSelector: string;
}

/**
 * Several nodes, for explainSubject. Of nodes without names the pods are read where they may have
 * to go. Throws ApiError (NotFound) for an unknown name, and UsageError for an invalid selector.
 */
export function nodesSubject({ names, labelSelector }: Several): Subject<ListAnswer<NodeAnswer>> {
  return {
    read: async (reader, question) => {
      const selector = names.length > 0 ? undefined : labelSelector;
      const nodes = await namedNodes(reader, names, selector);
      const isNamed = names.length > 0;
      const withPods = isNamed ? nodes : nodes.filter(mattersIn(question, reader.now()));
      const survey = await surveyForecast(reader, nodes, withPods, surveyOptions(question));
      return await withAttachments(reader, survey);
    },
    document: ({ nodes }, context) => {
      return listOf(nodes.map((node) => nodeAnswer(node, context)));
    },
  };
}

/** Several pods of a namespace, for explainSubject. Throws as nodesSubject does. */
export function podsSubject(
  namespace: string,
  { names, labelSelector }: Several,
): Subject<ListAnswer<PodAnswer>> {
  return {
    read: async (reader, question) => {
      const read = () =>
        names.length > 0
          ? Promise.all([...new Set(names)].map((name) => reader.pod(namespace, name)))
          : reader.podsOf(namespace, labelSelector);
      const pods = await selected('--selector', labelSelector, read);
      const [survey, ends] = await Promise.all([
        surveyPods(reader, namespace, pods, surveyOptions(question)),
        names.length > 0
          ? jobEnds(
              reader,
              pods.map(({ pod }) => pod),
            )
          : [],
      ]);
      return { ...(await withAttachments(reader, survey)), jobEnds: ends };
    },
    document: (report, context) => {
      const nodes = new Map(report.nodes.map((node) => [node.facts.node.name, node] as const));
      const answers = podsAsked(report, names).map((pod) => {
        return podAnswer(pod, nodes.get(pod.facts.pod.nodeName) ?? null, context);
      });
      return listOf(answers);
    },
  };
}

/** The pods of an answer: in the order of their names, where they were named, else next to go first. */
export function podsAsked(report: Report, names: readonly string[]): readonly PodReport[] {
  const pods = [...podsIn(report)].sort(byTimeLeftAndName);
  if (names.length === 0) return pods;
  const turnOf = ({ facts }: PodReport): number => names.indexOf(facts.pod.name);
  return pods.sort((one, other) => turnOf(one) - turnOf(other));
}

function listOf<D extends object>(items: readonly D[]): ListAnswer<D> {
  return { apiVersion: 'v1', kind: 'List', items };
}
