// One span for each attempt to evict a pod, with the requests that it takes as its children.
import {
  type Attributes,
  context,
  DiagLogLevel,
  diag,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type ApiRequest, giveAnswer, type Notice, type Transport } from '@taintmgr/k8s-adapter';
import { version } from '../version.ts';

type Sent = Extract<Notice, { kind: 'commandSent' }>;
type Finished = Extract<Notice, { kind: 'commandFinished' }>;

/** Follows evictions from the command to its outcome. The executor limits how many there are at once. */
export class EvictionSpans {
  /** By the id of the command. */
  readonly #spans = new Map<string, Span>();
  /** By `namespace/name` of the pod: whose requests go out now. */
  readonly #pods = new Map<string, Span>();
  readonly #tracer: Tracer;
  readonly #common: Attributes;

  /** `common` are the attributes of every span. */
  constructor(tracer: Tracer, common: Attributes) {
    this.#tracer = tracer;
    this.#common = common;
  }

  observe(notice: Notice): void {
    if (notice.kind === 'commandSent') this.#begin(notice);
    if (notice.kind === 'commandFinished') this.#end(notice);
  }

  #begin({ command }: Sent): void {
    const { pod, because } = command;
    const [reason] = because;
    const method = command.kind === 'evictPod' ? 'evict' : 'delete';
    const span = this.#tracer.startSpan(`${method} pod`, {
      kind: SpanKind.INTERNAL,
      attributes: {
        ...this.#common,
        'k8s.namespace.name': pod.namespace,
        'k8s.pod.name': pod.name,
        'k8s.pod.uid': pod.uid,
        'k8s.node.name': pod.nodeName,
        'taintmgr.eviction.method': method,
        ...(reason && { 'taintmgr.eviction.reason': reason.code }),
        ...(reason && 'taint' in reason && { 'taintmgr.taint.key': reason.taint.key }),
        ...(reason &&
          'deadline' in reason &&
          reason.deadline !== null && { 'taintmgr.eviction.due': textOf(reason.deadline) }),
      },
    });
    this.#spans.set(command.id, span);
    this.#pods.set(`${pod.namespace}/${pod.name}`, span);
  }

  #end({ command, outcome }: Finished): void {
    const span = this.#spans.get(command.id);
    if (!span) return;
    const { namespace, name } = command.pod;
    this.#spans.delete(command.id);
    if (this.#pods.get(`${namespace}/${name}`) === span) this.#pods.delete(`${namespace}/${name}`);
    span.setAttribute('taintmgr.eviction.outcome', outcome.kind);
    if (outcome.kind === 'failed') {
      span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.message });
    }
    span.end();
  }

  /** A child for each request to a pod that is being evicted; others pass as they are. */
  around(transport: Transport): Transport {
    return {
      send: (request, sink) => {
        const parent = this.#parentOf(request);
        if (!parent) return transport.send(request, sink);
        const span = this.#request(request, parent);
        const status = (code: number): void => {
          span.setAttribute('http.response.status_code', code);
          if (code >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
        };
        const hangUp = transport.send(request, {
          head: (code, headers) => {
            status(code);
            sink.head(code, headers);
          },
          data: (chunk) => sink.data(chunk),
          end: () => {
            span.end();
            sink.end();
          },
          answer: (code, headers, body) => {
            status(code);
            span.end();
            giveAnswer(sink, code, headers, body);
          },
          alive: (age) => sink.alive(age),
          failed: (message, stage) => {
            span.setAttribute('error.type', stage ?? 'connection');
            span.setStatus({ code: SpanStatusCode.ERROR, message });
            span.end();
            sink.failed(message, stage);
          },
        });
        return () => {
          span.end();
          hangUp();
        };
      },
    };
  }

  #parentOf({ method, path }: ApiRequest): Span | undefined {
    if (method === 'GET' || this.#pods.size === 0) return undefined;
    const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/?]+)/.exec(path) ?? [];
    return this.#pods.get(`${namespace}/${name}`);
  }

  #request({ method, path }: ApiRequest, parent: Span): Span {
    const [bare = ''] = path.split('?');
    const subresource = bare.split('/')[7];
    const what = subresource === undefined ? 'pods' : `pods/${subresource}`;
    const attributes = { ...this.#common, 'http.request.method': method, 'url.path': bare };
    const within = trace.setSpan(context.active(), parent);
    return this.#tracer.startSpan(
      `${method} ${what}`,
      { kind: SpanKind.CLIENT, attributes },
      within,
    );
  }
}

function textOf(instant: number): string {
  return new Date(instant).toISOString();
}

/** The shortest time between two reports about an unreachable collector. */
const reportEveryMs = 60_000;

interface Exporter {
  readonly tracer: Tracer;
  /** Sends the remaining spans. Never rejects. */
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

/** The library reports failures through a separate logger. */
function listen(onError: (error: string) => void): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  const ignore = (): void => {};
  const error = (...parts: readonly unknown[]): void => {
    const now = performance.now();
    if (now - reportedAt < reportEveryMs) return;
    reportedAt = now;
    onError(parts.map(partText).join(' '));
  };
  const logger = { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}

/** The library gives errors as JSON with a stack: the message is enough. */
function partText(part: unknown): string {
  if (part instanceof Error) return part.message;
  const text = String(part);
  return /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
}
