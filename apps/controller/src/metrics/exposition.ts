import type { Registry } from 'prom-client';
import { type Handler, textAnswer } from '../server/answer.ts';

const textType = 'text/plain; version=0.0.4; charset=utf-8';
const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Answers with the metrics of a registry, as OpenMetrics for whoever asks for that. */
export function metricsHandler(registry: Registry): Handler {
  return async ({ accept }) => {
    const text = withoutBlankLines(await registry.metrics());
    return accept.includes('application/openmetrics-text')
      ? textAnswer(openMetrics(text), 200, openMetricsType)
      : textAnswer(text, 200, textType);
  };
}

function withoutBlankLines(text: string): string {
  return text.replace(/\n{2,}/g, '\n');
}

/**
 * The same in the format of OpenMetrics 1.0: there a counter's family goes without `_total`, and
 * the text has an end. prom-client can write it too, but renames its counters for good then.
 */
function openMetrics(text: string): string {
  const counters = new Set(
    Array.from(text.matchAll(/^# TYPE (\S+)_total counter$/gm), ([, name]) => `${name}_total`),
  );
  const lines = text.replace(/^# (HELP|TYPE) (\S+)/gm, (line, word: string, name: string) => {
    return counters.has(name) ? `# ${word} ${name.slice(0, -'_total'.length)}` : line;
  });
  return `${lines.replace(/^# HELP .*$/gm, (line) => line.replaceAll('"', '\\"'))}# EOF\n`;
}
