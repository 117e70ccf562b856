// OpenTelemetry's own exporter: OTLP over HTTP, in batches, with the variables of its specification.
import { type Attributes, DiagLogLevel, diag, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { version } from '../version.ts';

/** A collector that is away is reported so often at most. */
const reportEveryMs = 60_000;

interface Exporter {
  readonly tracer: Tracer;
  /** Sends what is left. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Begins to send to `endpoint` + /v1/traces, or where the variables say; '': those. `attributes` are
 * those of the resource beside the usual ones.
 */
export function startExporter(
  endpoint: string,
  attributes: Attributes,
  onError: (error: string) => void,
): Exporter {
  listen(onError);
  const url = endpoint === '' ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` };
  const ours = resourceFromAttributes({
    'service.name': 'taintmgr-controller',
    'service.version': version,
    ...attributes,
  });
  const provider = new BasicTracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES count before ours.
    resource: ours.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(url))],
  });
  return {
    tracer: provider.getTracer('taintmgr-controller', version),
    close: async () => {
      await provider.shutdown().catch((error: unknown) => onError(String(error)));
      diag.disable();
    },
  };
}

/** The library reports failures through a logger of its own. */
function listen(onError: (error: string) => void): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  const ignore = (): void => {};
  const error = (...parts: readonly unknown[]): void => {
    const now = performance.now();
    if (now - reportedAt < reportEveryMs) return;
    reportedAt = now;
    onError(parts.map(textOf).join(' '));
  };
  const logger = { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}

/** It gives errors as JSON with a stack: the message is enough. */
function textOf(part: unknown): string {
  if (part instanceof Error) return part.message;
  const text = String(part);
  return /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
}
