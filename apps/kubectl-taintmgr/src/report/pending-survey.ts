// What is read of a cluster to say which pods are to go.
import { losesPods, losingPods } from '../cluster/drain-marks.ts';
import type { NodeFacts } from '../cluster/facts.ts';
import type { ClusterReader } from '../cluster/reader.ts';
import { type ForecastSurvey, type SurveyOptions, surveyForecast } from '../cluster/survey.ts';
import { isLegacy, isNotReady } from './legacy.ts';

/**
 * The pods of a namespace, null: of all, where we may not read nodes. Which of them have to go is not known then.
 */
export async function surveyHidden(
  reader: ClusterReader,
  namespace: string | null,
  { podSelector = '', ...options }: SurveyOptions = {},
): Promise<ForecastSurvey> {
  const [survey, pods] = await Promise.all([
    surveyForecast(reader, [], [], options),
    reader.podsOf(namespace, podSelector),
  ]);
  return { ...survey, pods: pods.filter(({ pod }) => pod.nodeName !== ''), hidesNodes: true };
}

/** The nodes that lose pods, with these: by taints and drains, and in the legacy mode those not ready. */
export async function surveyPending(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
  options: SurveyOptions = {},
): Promise<ForecastSurvey> {
  const now = reader.now();
  const tainted = losingPods(nodes, now);
  const survey = await surveyForecast(reader, tainted, tainted, options);
  if (!isLegacy(survey.evictor)) return survey;
  const all = nodes.filter((facts) => losesPods(facts, now) || isNotReady(facts));
  return all.length === tainted.length ? survey : await surveyForecast(reader, all, all, options);
}
