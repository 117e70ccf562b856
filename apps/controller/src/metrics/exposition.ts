// /metrics as text and as OpenMetrics, written as programs in Go write it.
import type { Registry } from 'prom-client';
import { exactAnswer, type Handler } from '../server/answer.ts';
import { metricsText } from './text.ts';

const textType = 'text/plain; version=0.0.4; charset=utf-8';
const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Answers with the metrics of a registry, as OpenMetrics for whoever asks for that. */
export function metricsHandler(registry: Registry): Handler {
  return async ({ accept }) =>
    accept.includes('application/openmetrics-text')
      ? exactAnswer(await metricsText(registry, 'openMetrics'), 200, openMetricsType)
      : exactAnswer(await metricsText(registry, 'text'), 200, textType);
}
