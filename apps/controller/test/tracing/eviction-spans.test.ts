// Spans of evictions and of their requests, whatever becomes of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diag, SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type Outcome, parseTaint, type Reason } from '@taintmgr/core';
import type { ApiRequest, Notice, Sink } from '@taintmgr/k8s-adapter';
import { createLogger } from '../../src/log/logger.ts';
import { EvictionSpans } from '../../src/tracing/eviction-spans.ts';
import { startTracing } from '../../src/tracing/tracing.ts';

const pod = { namespace: 'shop', name: 'web-0', uid: 'p1', nodeName: 'n1' };
const path = '/api/v1/namespaces/shop/pods/web-0';
const deletion: ApiRequest = { method: 'DELETE', path, headers: {}, body: null };

/** Spans that are gathered, and a transport whose requests the test answers. */
class Traced {
  readonly spans: EvictionSpans;
  readonly #exporter: InMemorySpanExporter = new InMemorySpanExporter();
  /** Where the answer to the last request goes; null: none was sent. */
  sink: Sink | null = null;

  constructor() {
    const spanProcessors = [new SimpleSpanProcessor(this.#exporter)];
    this.spans = new EvictionSpans(new BasicTracerProvider({ spanProcessors }).getTracer('t'), {});
  }

  begin(id: string, because: readonly Reason[] = []): void {
    this.spans.observe({ kind: 'commandSent', command: commandOf(id, because) });
  }

  end(id: string, outcome: Outcome = { kind: 'done' }): void {
    const command = commandOf(id, []);
    this.spans.observe({ kind: 'commandFinished', command, outcome, took: 0 });
  }

  /** Sends a request; hangs up. */
  send(request: Partial<ApiRequest>): () => void {
    const transport = this.spans.around({
      send: (_, sink) => {
        this.sink = sink;
        return () => {};
      },
    });
    const ignored = { head: () => {}, data: () => {}, end: () => {}, alive: () => {} };
    return transport.send({ ...deletion, ...request }, { ...ignored, failed: () => {} });
  }

  /** Those that have ended, in that order. */
  get ended(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }
}

function commandOf(
  id: string,
  because: readonly Reason[],
): Extract<Notice, { kind: 'commandSent' }>['command'] {
  const usual = { confirm: false, gracePeriodSeconds: null };
  return { kind: 'evictPod', id, pod, ...usual, because };
}

describe('the span of an eviction', () => {
  it('is an error with its words where the eviction failed, and none where it was put off', () => {
    const traced = new Traced();
    traced.begin('e1');
    traced.end('e1', { kind: 'failed', status: 500, message: 'no', retryAfter: null });
    traced.begin('e2');
    traced.end('e2', { kind: 'blocked', message: 'a budget', retryAfter: null });
    assert.deepEqual(
      traced.ended.map(({ status }) => status),
      [{ code: SpanStatusCode.ERROR, message: 'no' }, { code: SpanStatusCode.UNSET }],
    );
  });

  it('says when the pod was due', () => {
    const taint = parseTaint('bad:NoExecute');
    const start = { start: 0, startSource: 'timeAdded' } as const;
    const traced = new Traced();
    traced.begin('e1', [{ code: 'NoToleration', taint, ...start, deadline: 5000 }]);
    traced.end('e1');
    const [span] = traced.ended;
    assert.equal(span?.attributes['taintmgr.eviction.due'], '1970-01-01T00:00:05.000Z');
  });
});

describe('the span of a request', () => {
  const ends: readonly (readonly [
    what: string,
    end: (sink: Sink, hangUp: () => void) => void,
    said: Readonly<Record<string, unknown>>,
    isError: boolean,
  ])[] = [
    ['an answer', (sink) => sink.answer?.(200, {}, new Uint8Array()), { status: 200 }, false],
    ['a refusal', (sink) => sink.answer?.(500, {}, new Uint8Array()), { status: 500 }, true],
    ['a conflict', (sink) => sink.answer?.(409, {}, new Uint8Array()), { status: 409 }, true],
    ['a cut connection', (sink) => sink.failed('cut off'), { error: 'connection' }, true],
    ['a failed login', (sink) => sink.failed('no token', 'login'), { error: 'login' }, true],
    ['nobody waiting for it', (_, hangUp) => hangUp(), {}, false],
  ];
  for (const [what, end, { status, error }, isError] of ends) {
    it(`ends with ${what}`, () => {
      const traced = new Traced();
      traced.begin('e1');
      const hangUp = traced.send({ path: `${path}?dryRun=All` });
      end(traced.sink ?? assert.fail(), hangUp);
      const [span, ...others] = traced.ended;
      assert.ok(span && others.length === 0);
      assert.equal(span.name, 'DELETE pods');
      assert.equal(span.attributes['url.path'], path);
      assert.equal(span.attributes['http.response.status_code'], status);
      assert.equal(span.attributes['error.type'], error);
      assert.equal(span.status.code === SpanStatusCode.ERROR, isError);
    });
  }

  it('is below the last eviction of its pod, whenever those before it end', () => {
    const traced = new Traced();
    for (const id of ['e1', 'e2']) traced.begin(id);
    traced.end('e1');
    traced.send({});
    traced.sink?.end();
    traced.end('e2');
    const [, request, last] = traced.ended;
    assert.deepEqual([request?.name, last?.name], ['DELETE pods', 'evict pod']);
    assert.equal(request?.parentSpanContext?.spanId, last?.spanContext().spanId);
  });

  for (const [what, request] of [
    ['reads the pod', { method: 'GET' }],
    ['is about another pod', { path: `${path}0` }],
    ['is about something else', { path: '/api/v1/nodes/web-0' }],
  ] as const) {
    it(`is not there where it ${what}`, () => {
      const traced = new Traced();
      traced.begin('e1');
      traced.send(request);
      traced.sink?.end();
      assert.deepEqual(traced.ended, []);
    });
  }

  it('is not there when its eviction is over', () => {
    const traced = new Traced();
    traced.begin('e1');
    traced.end('e1');
    traced.send({});
    traced.sink?.end();
    assert.equal(traced.ended.length, 1);
  });
});

describe('traces', () => {
  const endpoint = 'http://127.0.0.1:9';
  for (const [what, otlpEndpoint, environment, isOn] of [
    ['by the flag', endpoint, {}, true],
    ['by a variable', '', { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, true],
    ['by that for traces', '', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }, true],
    ['by an empty one', '', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    ['by nobody', '', {}, false],
    ['and switched off', endpoint, { OTEL_SDK_DISABLED: 'true' }, false],
    ['and not switched off', endpoint, { OTEL_SDK_DISABLED: 'false' }, true],
  ] as const) {
    it(`asked for ${what} are ${isOn ? 'on' : 'off'}`, async () => {
      const log = createLogger({ format: 'json', verbose: false, write: () => {} });
      const tracing = await startTracing({ otlpEndpoint, dryRun: 'none' }, environment, log);
      await tracing?.close();
      assert.equal(tracing !== null, isOn);
    });
  }

  it('that cannot be sent are told of once a minute at most', async () => {
    const lines: string[] = [];
    const log = createLogger({ format: 'text', verbose: false, write: (line) => lines.push(line) });
    const tracing = await startTracing({ otlpEndpoint: endpoint, dryRun: 'none' }, {}, log);
    for (const words of ['away', 'away still']) diag.error(words);
    const told = lines.filter((line) => line.includes('could not send traces'));
    await tracing?.close();
    assert.equal(told.length, 1);
  });
});
