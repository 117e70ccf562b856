// Traces of evictions, for those who ask for them: nothing of it is loaded for others.
import type { Notice, Transport } from '@taintmgr/k8s-adapter';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';

/** The exporter that runs while there are traces. */
export interface Tracing {
  /** Hears of evictions. */
  readonly observe: (notice: Notice) => void;
  /** The transport with an eye on the requests of evictions. */
  readonly around: (transport: Transport) => Transport;
  /** Sends what has not been sent. Never rejects. */
  readonly close: () => Promise<void>;
}

/** The standard variables by which OTLP is asked for. */
const variables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/**
 * Begins, where an endpoint is named; null: there are no traces. `endpoint` is that of --otlp-endpoint,
 * `http://collector:4318`; '': what the variables say. In a dry run, `client` or `server`, all of it says so.
 */
export async function startTracing(
  { otlpEndpoint: endpoint, dryRun }: Pick<Settings, 'otlpEndpoint' | 'dryRun'>,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Tracing | null> {
  const isNamed = endpoint !== '' || variables.some((name) => environment[name]);
  if (!isNamed || environment.OTEL_SDK_DISABLED === 'true') return null;
  const { EvictionSpans, startExporter } = await import('./eviction-spans.ts');
  const attributes = dryRun === 'none' ? {} : { 'taintmgr.dry_run': dryRun };
  const { tracer, close } = startExporter(endpoint, attributes, (error) =>
    log.warn({ error }, 'could not send traces'),
  );
  const spans = new EvictionSpans(tracer, attributes);
  log.info({ endpoint: endpoint || 'of the environment' }, 'sending traces of evictions');
  return {
    observe: (notice) => spans.observe(notice),
    around: (transport) => spans.around(transport),
    close,
  };
}
