// A node, a pod, a zone and a taint as subjects of an explanation: how each is read, and its document.

import { withAttachments } from '../survey/dead-nodes.ts';
import { readDeniers } from '../survey/deniers.ts';
import { type NodeFacts, type PodFacts, zoneNames } from '../survey/facts.ts';
import { jobEnds } from '../survey/job-ends.ts';
import { precedingEviction } from '../survey/pending-pods.ts';
import type { ClusterReader } from '../survey/reader.ts';
import { beginForecast, type ForecastSurvey, surveyForecast } from '../survey/survey.ts';
import { choicesText } from '../text/count.ts';
import { UsageError } from '../text/usage-error.ts';
import type { NodeAnswer, NodesAnswer, PodAnswer, TaintAnswer, ZoneAnswer } from './answers.ts';
import { deadNodeDocument, deadNodeOf } from './dead-nodes.ts';
import {
  apiVersion,
  countsDocument,
  evictorDocument,
  nodeDocument,
  nodeEvictorDocument,
  nodesEvictorDocument,
  podDocument,
  taintDocument,
  zoneDocument,
} from './documents.ts';
import {
  type AnswerContext,
  type Explained,
  explainSubject,
  type Subject,
  surveyOptions,
  type Way,
} from './explained.ts';
import { givenUpDocument } from './given-up.ts';
import { departureDocument } from './history-documents.ts';
import type { Story } from './history-model.ts';
import { limitsDocument } from './holding-limits.ts';
import {
  hypotheticalTaints,
  matchesTaint,
  mattersIn,
  parsePattern,
  type Question,
} from './question.ts';
import { isGivenUp, type NodeReport, type PodReport, type Report } from './report.ts';
import { asOf } from './words.ts';

/**
 * Says of each pod of a node why and when it goes, or why it stays: what `kubectl taintmgr explain node` says.
 * Throws ApiError (NotFound: there is no such node; Forbidden: it may not be read) and ConnectionError.
 */
export function explainNode(
  way: Way,
  name: string,
  question: Partial<Question> = {},
): Promise<Explained<NodeAnswer>> {
  return explainSubject(way, nodeSubject(name), question);
}

/**
 * Says why and when a pod goes, or why it stays: what `kubectl taintmgr explain pod` says. Without the right to
 * read its node the decision is `Unknown`, and `refused` names the right. Throws ApiError (NotFound: there is no
 * such pod), ConnectionError, and UsageError where the pod has just gone.
 */
export function explainPod(
  way: Way,
  namespace: string,
  name: string,
  question: Partial<Question> = {},
): Promise<Explained<PodAnswer>> {
  return explainSubject(way, podSubject(namespace, name), question);
}

/** A node, for explainSubject. */
export function nodeSubject(name: string): Subject<NodeAnswer> {
  return {
    read: async (reader, question) => {
      const options = surveyOptions(question);
      const asked = reader.node(name);
      const begun = beginForecast(reader, [name], options);
      // Where there is no such node, that is what is said.
      const node = await asked;
      const survey = await surveyForecast(reader, [node], [node], { ...options, begun });
      return await withAttachments(reader, survey);
    },
    document: ({ nodes: [report] }, context) => {
      if (!report) throw new Error(`node ${name} was read and is not known`);
      return nodeAnswer(report, context);
    },
  };
}

/** The answer about a node. */
export function nodeAnswer(
  report: NodeReport,
  { survey, question: { after } }: AnswerContext,
): NodeAnswer {
  const { name, uid } = report.facts.node;
  return {
    apiVersion,
    kind: 'NodeExplanation',
    metadata: { name, uid },
    ...asOf(survey.at, after),
    ...nodeEvictorDocument(report, survey.evictor),
    ...nodeDocument(report, survey.at, after),
    ...limitsDocument(survey, report.pods ?? []),
  };
}

/** A pod, for explainSubject. */
export function podSubject(namespace: string, name: string): Subject<PodAnswer> {
  const isMeant = ({ facts: { pod } }: PodReport): boolean =>
    pod.namespace === namespace && pod.name === name;
  return {
    read: async (reader, question): Promise<PodSurvey> => {
      const facts = await reader.pod(namespace, name);
      const { nodeName } = facts.pod;
      const read = async () => ({ node: await reader.nodeIfThere(nodeName) });
      const found = nodeName === '' ? { node: null } : await reader.ifAllowed(read);
      const node = found?.node ?? null;
      const nodes = node ? [node] : [];
      const [survey, ends, precededBy, deniers, leaving] = await Promise.all([
        surveyForecast(reader, nodes, nodes, { ...surveyOptions(question), namespace }),
        jobEnds(reader, [facts.pod]),
        precedingEviction(reader, facts),
        readDeniers(reader, facts),
        facts.pod.deletionTimestamp === null ? null : leavingStory(reader, facts),
      ]);
      const alone = node ? {} : { pods: [facts], hidesNodes: found === null };
      const whole = await withAttachments(reader, survey);
      return {
        ...whole,
        jobEnds: ends,
        ...(precededBy !== null && { precededBy }),
        ...(deniers && { deniers }),
        ...(leaving && { leaving }),
        ...alone,
      };
    },
    focus: ({ nodes, strays }) => {
      const only = nodes.map((node) => ({ ...node, pods: node.pods?.filter(isMeant) ?? null }));
      return { nodes: only, strays: strays.filter(isMeant) };
    },
    document: (report, context) => {
      const pod = podIn(report, `${namespace}/${name}`);
      return podAnswer(pod, report.nodes[0] ?? null, context);
    },
  };
}

/** The survey with the story of a pod that is terminating. */
interface PodSurvey extends ForecastSurvey {
  /** Left out: it is not leaving, or the cause is unknown. */
  readonly leaving?: Story;
}

/**
 * The program that made a terminating pod leave, since when and why; null: it is not terminating,
 * or the cause is unknown.
 */
export function leavingIn(survey: ForecastSurvey): Story | null {
  return (survey as PodSurvey).leaving ?? null;
}

function leavingDocument(survey: ForecastSurvey): Pick<PodAnswer, 'leaving'> {
  const leaving = leavingIn(survey);
  return leaving ? { leaving: departureDocument(leaving) } : {};
}

/** Its code is loaded where a pod is terminating. */
async function leavingStory(
  reader: ClusterReader,
  { pod: { namespace, name, uid } }: PodFacts,
): Promise<Story | null> {
  const { history } = await import('./history.ts');
  const { stories } = await history(reader, { kind: 'pod', namespace, name });
  return stories.find((story) => story.uid === uid) ?? null;
}

/** The answer about a pod; `node`: null: the pod is on no node that is known. */
export function podAnswer(
  pod: PodReport,
  node: NodeReport | null,
  { survey, question: { after } }: AnswerContext,
): PodAnswer {
  const dead = node ? deadNodeOf(node, survey.at) : null;
  return {
    apiVersion,
    kind: 'PodExplanation',
    ...asOf(survey.at, after),
    ...evictorDocument(survey.evictor),
    ...podDocument(pod, survey.at + after),
    ...(isGivenUp(pod) && { givenUp: givenUpDocument(pod, survey.deniers ?? null) }),
    ...(dead && { deadMachine: deadNodeDocument(dead) }),
    ...(survey.precededBy && { precededBy: survey.precededBy }),
    ...leavingDocument(survey),
    ...limitsDocument(survey, [pod]),
  };
}

/** The pod that an answer about one is about. Throws UsageError: it may have gone between one read and the next. */
export function podIn({ nodes: [node], strays }: Report, reference: string): PodReport {
  const [pod] = [...(node?.pods ?? []), ...strays];
  if (!pod) throw new UsageError(`pod ${reference} has just gone`);
  return pod;
}

/** The nodes of a zone, for explainSubject. `name`: a label of the zone, or `region/zone`. */
export function zoneSubject(name: string): Subject<ZoneAnswer> {
  return {
    read: async (reader, question) => {
      const all = await reader.nodes();
      const nodes = all.filter(({ node }) => zoneNames(node.labels ?? {}).includes(name));
      if (nodes.length === 0) throw new UsageError(noSuchZone(name, all));
      const options = { ...surveyOptions(question), allNodes: all };
      return await surveyForecast(reader, nodes, nodes, options);
    },
    document: ({ nodes }, context) => {
      const { forecast } = nodes[0] ?? {};
      const zone = { ...readyCounts(nodes), ...(forecast && zoneDocument(forecast)) };
      return {
        ...headOf('ZoneExplanation', name, nodes, context),
        zone,
        ...bodyOf(nodes, context),
      };
    },
  };
}

/** Counts the nodes of a zone, and those that are not Ready. */
export function readyCounts(nodes: readonly NodeReport[]): {
  readonly nodes: number;
  readonly notReady: number;
} {
  const notReady = nodes.filter(({ facts }) => facts.ready.status !== 'True').length;
  return { nodes: nodes.length, notReady };
}

function noSuchZone(name: string, nodes: readonly NodeFacts[]): string {
  const zones = [...new Set(nodes.map(({ zone }) => zone))].filter((zone) => zone !== '').sort();
  const known = zones.length === 0 ? 'nodes have no zone labels' : `zones: ${choicesText(zones)}`;
  return `zone ${JSON.stringify(name)} has no nodes; ${known}`;
}

/**
 * The nodes with a taint, for explainSubject. `text`: `key[=value][:effect]`. Throws UsageError and RangeError for what
 * names no taint.
 */
export function taintSubject(text: string): Subject<TaintAnswer> {
  const pattern = parsePattern(text);
  return {
    read: async (reader, question) => {
      const all = await reader.nodes();
      const nodes = all.filter(({ node }) => {
        const taints = hypotheticalTaints(node.taints, question, 0);
        return taints.some((taint) => matchesTaint(pattern, taint));
      });
      if (nodes.length === 0) throw new UsageError(nowhere(text, all));
      const withPods = nodes.filter(mattersIn(question, reader.now()));
      const options = { ...surveyOptions(question), allNodes: all };
      return await surveyForecast(reader, nodes, withPods, options);
    },
    document: ({ nodes }, context) => {
      const found = taintsFound(text, nodes, context).map(({ node, taint }) => {
        return { node: node.facts.node.name, ...taintDocument(taint) };
      });
      return {
        ...headOf('TaintExplanation', text, nodes, context),
        found,
        ...bodyOf(nodes, context),
      };
    },
  };
}

function nowhere(text: string, nodes: readonly NodeFacts[]): string {
  const taints = nodes.flatMap(({ node }) => node.taints);
  const keys = [...new Set(taints.map(({ key }) => key))].sort();
  const known = keys.length === 0 ? 'no node has taints' : `nodes have: ${keys.join(', ')}`;
  return `no node has the taint ${JSON.stringify(text)}; ${known}`;
}

/** A taint of a node. */
export interface FoundTaint {
  /** The node that has the taint. */
  readonly node: NodeReport;
  /** The taint, which the question may have assumed. */
  readonly taint: NodeReport['facts']['node']['taints'][number];
}

/** The taints of nodes that a pattern names, those of the question with them. */
export function taintsFound(
  text: string,
  nodes: readonly NodeReport[],
  { survey, question }: AnswerContext,
): readonly FoundTaint[] {
  const pattern = parsePattern(text);
  return nodes.flatMap((node) => {
    const taints = hypotheticalTaints(node.facts.node.taints, question, survey.at);
    return taints.filter((taint) => matchesTaint(pattern, taint)).map((taint) => ({ node, taint }));
  });
}

/** The beginning of an answer about several nodes. */
function headOf<K extends string>(
  kind: K,
  name: string,
  nodes: readonly NodeReport[],
  { survey: { at, evictor }, question: { after } }: AnswerContext,
): Omit<NodesAnswer<K>, 'nodes' | 'summary'> {
  const head = { apiVersion, kind, metadata: { name }, ...asOf(at, after) };
  return { ...head, ...nodesEvictorDocument(nodes, evictor) };
}

/** The rest of such an answer. */
function bodyOf(
  nodes: readonly NodeReport[],
  { survey: { at, evictor }, question: { after } }: AnswerContext,
): Pick<NodesAnswer<string>, 'nodes' | 'summary'> {
  const rows = nodes.map((node) => {
    const { name, uid } = node.facts.node;
    const drained = node.drains.length > 0 ? nodeEvictorDocument(node, evictor) : {};
    return { name, uid, ...drained, ...nodeDocument(node, at, after) };
  });
  return { nodes: rows, summary: countsDocument(nodes) };
}
